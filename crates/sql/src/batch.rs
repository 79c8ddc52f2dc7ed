//! Several statements in one message to a server, because each message is a round trip.

use futures_util::future::BoxFuture;
use sqlx::Error;
use sqlx::postgres::PgRow;

use super::pool::{Executor as _, Pool, Results, Transaction, of_server};
use super::postgres_transaction::{Borrowed, QUERY, limited};
use super::query::Query;
use super::row::Row;

/// Begins a transaction of which the whole text is known.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

impl Pool {
    /// Runs queries one after another, on a server by one message. Returns the results of each.
    pub fn run_all(&self, queries: Vec<Query<Row>>) -> BoxFuture<'_, Result<Vec<Results>, Error>> {
        Box::pin(async move {
            match self {
                Pool::Postgres { pool, seats, .. } if queries.len() > 1 && all_fit(&queries) => {
                    let results = Borrowed::from(pool, seats).await?.run_text(QUERY, joined(queries)?).await?;
                    Ok(results.into_iter().map(of_server).collect())
                }
                _ => {
                    let mut results = Vec::with_capacity(queries.len());
                    for query in queries {
                        results.push(self.run(query.into_statement()).await?);
                    }
                    Ok(results)
                }
            }
        })
    }

    /// Runs `writes` in a transaction, commits it, and runs `reads`, all by one message to a server. `first`: statements without parameters at the
    /// beginning of the transaction, of which an error undoes it. Returns the results of the writes and of the reads, or `None` if there is no
    /// server, or the values do not fit into a message.
    pub fn commit_all(
        &self,
        first: String,
        writes: Vec<Query<Row>>,
        reads: Vec<Query<Row>>,
    ) -> BoxFuture<'_, Result<Option<Vec<Results>>, Error>> {
        Box::pin(async move {
            let Pool::Postgres { pool, seats, .. } = self else { return Ok(None) };
            if !all_fit(&writes) || !all_fit(&reads) {
                return Ok(None);
            }
            let (writing, reading) = (writes.len(), reads.len());
            let pieces = [limited(BEGIN), first, joined(writes)?, "COMMIT".to_owned(), joined(reads)?];
            let pieces: Vec<String> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
            let mut borrowed = Borrowed::from(pool, seats).await?;
            let mut results = borrowed.run_whole(QUERY, pieces.join("; ")).await?;
            // Each statement has a result, even without rows.
            let reads = results.split_off(results.len().saturating_sub(reading));
            results.pop();
            let writes = results.split_off(results.len().saturating_sub(writing));
            Ok(Some(writes.into_iter().chain(reads).map(of_server).collect()))
        })
    }
}

/// The first row of the statements before others, and the results of these.
type AfterFirst = (Option<PgRow>, Vec<Results>);

impl Transaction {
    /// Runs statements one after another, on a server by one message. Returns the results of each.
    pub fn run_all(&mut self, statements: Vec<Query<Row>>) -> BoxFuture<'_, Result<Vec<Results>, Error>> {
        Box::pin(async move {
            match self {
                Transaction::Postgres { transaction, .. } if all_fit(&statements) => {
                    let results = transaction.run_text(joined(statements)?).await?;
                    Ok(results.into_iter().map(of_server).collect())
                }
                _ => {
                    let mut results = Vec::with_capacity(statements.len());
                    for statement in statements {
                        results.push(self.run(statement.into_statement()).await?);
                    }
                    Ok(results)
                }
            }
        })
    }

    /// Does the same as [`Transaction::run_all`] after `first`, statements without parameters. Returns their first row as well.
    pub fn run_all_after(
        &mut self,
        first: String,
        statements: Vec<Query<Row>>,
    ) -> BoxFuture<'_, Result<AfterFirst, Error>> {
        Box::pin(async move {
            match self {
                Transaction::Postgres { transaction, .. } if !first.is_empty() && all_fit(&statements) => {
                    let own = statements.len();
                    let pieces = [first, joined(statements)?];
                    let pieces: Vec<String> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
                    let mut results = transaction.run_text(pieces.join("; ")).await?;
                    let results_of_own = results.split_off(results.len().saturating_sub(own));
                    let row = results.into_iter().find_map(|(rows, _)| rows.into_iter().next());
                    Ok((row, results_of_own.into_iter().map(of_server).collect()))
                }
                _ => {
                    let row = if first.is_empty() { None } else { self.raw_row(first).await? };
                    Ok((row, self.run_all(statements).await?))
                }
            }
        })
    }

    /// Does the same as [`Transaction::run_all`], and commits, on a server by the same message.
    pub fn commit_after(self, statements: Vec<Query<Row>>) -> BoxFuture<'static, Result<(), Error>> {
        Box::pin(async move {
            match self {
                Transaction::Postgres { transaction, .. } if !statements.is_empty() && all_fit(&statements) => {
                    transaction.commit_after(Some(joined(statements)?)).await?;
                    Ok(())
                }
                mut transaction => {
                    transaction.run_all(statements).await?;
                    transaction.commit().await
                }
            }
        })
    }
}

fn all_fit(statements: &[Query<Row>]) -> bool {
    statements.iter().all(Query::fits_text)
}

fn joined(statements: Vec<Query<Row>>) -> Result<String, Error> {
    let texts = statements.into_iter().map(|statement| statement.into_statement().into_text());
    Ok(texts.collect::<Result<Vec<_>, _>>()?.join("; "))
}
