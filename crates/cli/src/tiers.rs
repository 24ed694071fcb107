//! What is measured on each node in a given time: fixed lists, so that all nodes have the same figures.
//!
//! Figures were chosen by what they find for each second that they cost (docs/methods/fleet.md, Tiers).

/// A list of commands.
#[derive(Debug)]
pub struct Tier {
    /// Its word on the command line: the time that a node takes, about.
    pub name: &'static str,
    /// That time in seconds.
    pub seconds: f64,
    /// Commands of truebench.
    pub commands: &'static [&'static str],
}

/// All, the shortest first.
pub const TIERS: &[Tier] = &[
    // An epilog.
    Tier {
        name: "15s",
        seconds: 15.0,
        commands: &[
            "memory --kernel triad --stores nt --max-time 8s",
            "system dhry2reg syscall --rounds 6 --duration 200ms",
        ],
    },
    // Slurm's HealthCheckProgram may take 60 s.
    Tier {
        name: "60s",
        seconds: 60.0,
        commands: &[
            "memory --kernel copy,triad --max-time 14s",
            "memory latency --max-time 10s",
            "system dhry2reg whetstone-double syscall pipe --rounds 6 --duration 300ms",
            "faults prices minor.write huge --max-time 8s",
        ],
    },
    // A weekly screen.
    Tier {
        name: "4m",
        seconds: 240.0,
        commands: &[
            "memory --max-time 50s",
            "memory latency --max-time 20s",
            "memory numa --max-time 25s",
            "system dhry2reg whetstone-double syscall pipe spawn execl fstime --rounds 6 --duration 500ms",
            "system cores --max-time 25s",
            "system noise --max-time 20s",
            "faults prices minor.write minor.read huge munmap major --max-time 30s",
        ],
    },
];
