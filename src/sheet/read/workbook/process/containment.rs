//! Containment of the reading process on Linux: after it has opened its file, the kernel refuses all other system calls than
//! those for reading, memory and threads. The process can open no file, no connection and no other program, even if a
//! hostile workbook takes it over.
//!
//! A seccomp filter needs no privileges and also works in containers. Where the kernel has none, the process reads without
//! it, with its other limits.

#[cfg(target_os = "linux")]
pub(super) use self::linux::enter;

/// Other systems have no such filter.
#[cfg(not(target_os = "linux"))]
pub(super) fn enter() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;

    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    };

    /// System calls that a reading process needs. None of them reaches a file, process or network by name.
    const ALLOWED: &[libc::c_long] = &[
        // Open files and pipes.
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_pread64,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_lseek,
        libc::SYS_close,
        libc::SYS_fstat,
        // The length of an open file, for the standard library.
        libc::SYS_statx,
        libc::SYS_newfstatat,
        libc::SYS_ppoll,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_poll,
        // Memory.
        libc::SYS_brk,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        // Threads.
        libc::SYS_clone,
        libc::SYS_clone3,
        libc::SYS_futex,
        libc::SYS_set_robust_list,
        libc::SYS_rseq,
        libc::SYS_sched_yield,
        libc::SYS_sched_getaffinity,
        libc::SYS_gettid,
        libc::SYS_getpid,
        libc::SYS_exit,
        libc::SYS_exit_group,
        // Signals, also of a thread to itself when the program aborts.
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_tgkill,
        libc::SYS_restart_syscall,
        // Time and random numbers.
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_nanosleep,
        libc::SYS_getrandom,
    ];

    /// Applies the filter to all threads of this process, and forbids new privileges.
    pub(in crate::sheet::read::workbook::process) fn enter() {
        if let Some(filter) = filter() {
            // An old kernel, or one that forbids filters.
            let _ = seccompiler::apply_filter_all_threads(&filter);
        }
    }

    /// Returns the filter, or `None` for an architecture that it does not know.
    fn filter() -> Option<BpfProgram> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
        // Names of threads.
        let names = u64::try_from(libc::PR_SET_NAME).ok()?;
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, names).ok()?;
        rules.insert(libc::SYS_prctl, vec![SeccompRule::new(vec![condition]).ok()?]);
        let refused = SeccompAction::Errno(libc::EPERM as u32);
        let architecture = std::env::consts::ARCH.try_into().ok()?;
        SeccompFilter::new(rules, refused, SeccompAction::Allow, architecture).ok()?.try_into().ok()
    }

    #[cfg(test)]
    mod tests {
        use std::fs::File;
        use std::io::{ErrorKind, Read as _};
        use std::net::{TcpListener, TcpStream, UdpSocket};
        use std::process::Command;
        use std::thread;

        use super::*;

        #[test]
        fn a_contained_thread_reads_what_is_open_and_opens_nothing() {
            let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
            let address = listener.local_addr().expect("an address");
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("open");
            std::fs::write(&path, "content").expect("written");
            let mut file = File::open(&path).expect("a file");
            let contained = thread::spawn(move || {
                // The filter of this thread alone: the other tests run in this process, too.
                seccompiler::apply_filter(&filter().expect("a known architecture")).expect("a kernel with filters");
                let refused = [
                    File::open(&path).err(),
                    File::create(path.with_extension("new")).err(),
                    std::fs::remove_file(&path).err(),
                    std::fs::read_dir("/").err(),
                    TcpStream::connect(address).err(),
                    UdpSocket::bind("127.0.0.1:0").err(),
                    Command::new("true").spawn().err(),
                ];
                let refused = refused.map(|error| error.map(|error| error.kind()));
                let mut text = String::new();
                file.read_to_string(&mut text).expect("an open file");
                // Threads and memory.
                let large = thread::Builder::new().name("inner".to_owned()).spawn(|| vec![1_u8; 64 << 20].len());
                (refused, text, large.expect("a thread").join().expect("a result"))
            });
            let (refused, text, len) = contained.join().expect("a result");
            assert!(refused.iter().all(|kind| *kind == Some(ErrorKind::PermissionDenied)), "{refused:?}");
            assert_eq!((text.as_str(), len), ("content", 64 << 20));
        }
    }
}
