//! Containment of the reading process on Linux, even if a hostile workbook takes it over. Once the process has opened its file,
//! the kernel refuses
//!
//! - every path and every TCP connection (Landlock),
//! - all system calls except on open files, memory and threads (seccomp): no file, connection, program or process.
//!
//! Both work without privileges. On a kernel without one of them, the other still applies, together with the limits on memory,
//! time and descriptors; `sheetport doctor` reports this.

#[cfg(target_os = "linux")]
pub(super) use self::linux::{deny_calls, deny_paths, enter};

/// Does nothing: other systems have no equivalent.
#[cfg(not(target_os = "linux"))]
pub(super) fn enter() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;

    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr as _, RulesetError, RulesetStatus,
    };
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    };

    /// System calls required for reading. None of them reaches a file, process or network by name.
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
        // Threads; another filter refuses this call.
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
        // Signals.
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_restart_syscall,
        // Time and random numbers.
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_nanosleep,
        libc::SYS_getrandom,
    ];

    /// Contains this process. Landlock does not restrict threads already running.
    pub(crate) fn enter() {
        deny_paths();
        deny_calls();
    }

    /// Forbids all paths and TCP, and new privileges. Returns the version of Landlock in the kernel, or `None` without Landlock.
    pub(crate) fn deny_paths() -> Option<i32> {
        let restrict = || -> Result<_, RulesetError> {
            // Older kernels ignore unknown rules.
            Ruleset::default()
                .handle_access(AccessFs::from_all(ABI::V5))?
                .handle_access(AccessNet::from_all(ABI::V5))?
                .create()?
                .restrict_self()
        };
        let status = restrict().ok().filter(|status| status.ruleset != RulesetStatus::NotEnforced)?;
        match status.landlock {
            LandlockStatus::Available { effective_abi, kernel_abi } => Some(kernel_abi.unwrap_or(effective_abi as i32)),
            LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
        }
    }

    /// Applies the filters to all threads of this process, and forbids new privileges. Returns false if the kernel is too old or
    /// forbids filters.
    pub(crate) fn deny_calls() -> bool {
        let filters = threads_by_clone().zip(filter());
        filters.is_some_and(|(first, second)| {
            [first, second].iter().all(|filter| seccompiler::apply_filter_all_threads(filter).is_ok())
        })
    }

    /// Returns a filter that refuses `clone3` as an old kernel does, so that threads are created with `clone`: the flags of
    /// `clone3` are in memory, where a filter can't see them. Returns `None` for an unsupported architecture.
    fn threads_by_clone() -> Option<BpfProgram> {
        let rules = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
        let unknown = SeccompAction::Errno(libc::ENOSYS as u32);
        SeccompFilter::new(rules, SeccompAction::Allow, unknown, architecture()?).ok()?.try_into().ok()
    }

    /// Returns the filter, or `None` for an unsupported architecture.
    fn filter() -> Option<BpfProgram> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
        // Names of threads.
        let names = u64::try_from(libc::PR_SET_NAME).ok()?;
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, names).ok()?;
        rules.insert(libc::SYS_prctl, vec![SeccompRule::new(vec![condition]).ok()?]);
        // Threads, but no processes.
        let thread = u64::try_from(libc::CLONE_THREAD).ok()?;
        let condition =
            SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), thread).ok()?;
        rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![condition]).ok()?]);
        // A thread signals its own process when the program aborts.
        let this = u64::from(std::process::id());
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, this).ok()?;
        rules.insert(libc::SYS_tgkill, vec![SeccompRule::new(vec![condition]).ok()?]);
        let refused = SeccompAction::Errno(libc::EPERM as u32);
        SeccompFilter::new(rules, refused, SeccompAction::Allow, architecture()?).ok()?.try_into().ok()
    }

    fn architecture() -> Option<seccompiler::TargetArch> {
        std::env::consts::ARCH.try_into().ok()
    }
}
