//! Throttling: when the service asks to wait, everybody waits.

use std::time::{Duration, Instant};

use sheetport::upload::StopReason;

use super::server::{Server, answer};
use super::{Planned, client};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_person_need_not_wait_out_a_pause() {
    let server = Server::start(|_| answer(429, "retry-after: 600\r\n", "")).await;
    let planned = Planned::many(20).await;
    let began = Instant::now();
    let asked = async {
        while server.log().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let ended = planned.send_until(client(&server, 4), 4, asked).await;
    assert_eq!(ended.stopped, Some(StopReason::Interrupted));
    assert!(began.elapsed() < 5 * SECOND);
    assert_eq!(planned.accounting().await.pending, 20);
    planned.resumes().await;
}
