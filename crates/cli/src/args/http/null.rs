//! `truebench http null`.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Args as ClapArgs;
use figure::CpuList;
use http::null::{Delay, Drift, Neglect, OneIn, Stall};

use crate::values;

/// `truebench http null`.
#[derive(Debug, ClapArgs)]
pub struct Null {
    /// Where it listens, such as 127.0.0.1:8080; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub bind: SocketAddr,
    /// Threads; the kernel spreads connections over them
    #[arg(short = 't', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: u32,
    /// CPUs on which the threads are pinned in turn, such as 0-3,8 [default: the system decides]
    #[arg(long, value_name = "CPUS")]
    pub cpus: Option<CpuList>,
    /// Connections that may wait to be accepted, on each thread (net.core.somaxconn bounds it)
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    pub backlog: u32,
    /// End at the end of standard input: its writer, which started the server, has died
    #[arg(long, hide = true)]
    pub until_eof: bool,
    /// The body of its answers
    #[arg(long, value_name = "TEXT", default_value = "Hello, Go!")]
    pub body: String,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub faults: Faults,
}

/// Faults of the server.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Faults (N: one request in N, counted on each thread)")]
pub struct Faults {
    /// Stand still for a time, at the beginning of each other: 100ms/1s
    #[arg(long, value_name = "LENGTH/EVERY", value_parser = stall)]
    pub stall: Option<Stall>,
    /// Answer with status 503
    #[arg(long, value_name = "N")]
    pub unavailable: Option<OneIn>,
    /// Give no answer; the connection stays open
    #[arg(long, value_name = "N")]
    pub silent: Option<OneIn>,
    /// Reset the connection
    #[arg(long, value_name = "N")]
    pub reset: Option<OneIn>,
    /// Answer twice
    #[arg(long, value_name = "N")]
    pub twice: Option<OneIn>,
    /// Send half an answer, then close the connection
    #[arg(long, value_name = "N")]
    pub cut: Option<OneIn>,
    /// Send another body, a byte longer
    #[arg(long, value_name = "N")]
    pub other: Option<OneIn>,
    /// The answer so much later: 40ms/10 is one in 10, as where Nagle's algorithm meets a delayed
    /// acknowledgement; 5ms/1 is a server that waits
    #[arg(long, value_name = "TIME/N", value_parser = delay)]
    pub delay: Option<Delay>,
    /// Answers later and later: 1ms/1s is a millisecond more after each second
    #[arg(long, value_name = "GROWTH/EVERY", value_parser = drift)]
    pub drift: Option<Drift>,
    /// Answers so much later, but for the first one on each connection and the first K connections of each
    /// thread: 1h/100
    #[arg(long, value_name = "TIME/K", value_parser = neglect)]
    pub neglect: Option<Neglect>,
    /// Accept connections one by one, with so much between, so that they wait in the backlog, or find no room
    /// in it
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub accept: Option<Duration>,
    /// Close each connection after N answers, the last of which says so
    #[arg(long, value_name = "N")]
    pub close_after: Option<OneIn>,
    /// Close each connection after N answers, and nothing says so
    #[arg(long, value_name = "N", conflicts_with = "close_after")]
    pub drop_after: Option<OneIn>,
    /// Each answer in two pieces, the second so much later
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub split: Option<Duration>,
    /// Each answer byte by byte, with so much between
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "split")]
    pub trickle: Option<Duration>,
    /// Send bodies that never end
    #[arg(long)]
    pub endless: bool,
}

fn time(text: &str) -> Result<Duration, String> {
    values::seconds(text).map(Duration::from_secs_f64)
}

/// The two parts of `40ms/10`.
fn parts<'a>(text: &'a str, what: &str, example: &str) -> Result<(&'a str, &'a str), String> {
    text.split_once('/').ok_or_else(|| format!("'{text}' is no {what}: write {example}"))
}

fn stall(text: &str) -> Result<Stall, String> {
    let (length, every) = parts(text, "stall", "100ms/1s")?;
    let stall = Stall { length: time(length)?, every: time(every)? };
    if stall.length < stall.every {
        Ok(stall)
    } else {
        Err(format!("'{text}' never ends: write the shorter time first, as in 100ms/1s"))
    }
}

fn delay(text: &str) -> Result<Delay, String> {
    let (length, share) = parts(text, "delay", "40ms/10")?;
    let share = share.parse().map_err(|_| format!("'{share}' is no number from 1 on"))?;
    Ok(Delay { length: time(length)?, share })
}

fn drift(text: &str) -> Result<Drift, String> {
    let (growth, every) = parts(text, "drift", "1ms/1s")?;
    Ok(Drift { growth: time(growth)?, every: time(every)? })
}

fn neglect(text: &str) -> Result<Neglect, String> {
    let (length, served) = parts(text, "neglect", "1h/100")?;
    let served = served.parse().map_err(|_| format!("'{served}' is no number of connections"))?;
    Ok(Neglect { length: time(length)?, served })
}
