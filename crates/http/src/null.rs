//! The null responder: a server that answers the same bytes to everything, as fast as can be, and with faults on demand.
//!
//! It shows how much the client could do, and stands in the tests for servers with each defect.

mod answer;
mod faults;
mod serve;

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use figure::CpuList;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, listen, socket_with, sockopt};

pub use answer::Answer;
pub use faults::{Delay, Drift, Fault, Faults, Neglect, OneIn, Place, Stall};
pub use serve::{Asked, asked};

/// What is asked of the responder.
#[derive(Clone, Debug)]
pub struct Null {
    /// Where it listens; port 0 for any.
    pub address: SocketAddr,
    /// Threads, at least 1. The kernel spreads connections over them by a hash (SO_REUSEPORT).
    pub threads: u32,
    /// CPUs on which they are pinned in turn.
    pub cpus: Option<CpuList>,
    /// Connections that may wait to be accepted, on each thread.
    pub backlog: u32,
    /// What it answers.
    pub answer: Answer,
    /// What it does wrong.
    pub faults: Faults,
}

impl Null {
    /// One thread, on any port of loopback, without faults.
    pub fn local(answer: Answer) -> Null {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        Null { address, threads: 1, cpus: None, backlog: 4096, answer, faults: Faults::default() }
    }

    /// Begins to serve.
    ///
    /// # Errors
    /// A system call failed.
    pub fn start(&self) -> io::Result<Responder> {
        let mut address = self.address;
        let stop = Arc::new(AtomicBool::new(false));
        let mut responder = Responder { address, stop: stop.clone(), threads: Vec::new() };
        for index in 0..self.threads.max(1) {
            let listener = listener(address, self.backlog)?;
            let bound: SocketAddr = getsockname(&listener)?.try_into()?;
            (address, responder.address) = (bound, bound);
            let cpus: Option<Vec<u32>> = self.cpus.as_ref().map(|cpus| cpus.iter().collect());
            let cpu = cpus.filter(|all| !all.is_empty()).map(|all| all[index as usize % all.len()]);
            let serve = serve::Serve::new(listener, &self.answer, &self.faults)?;
            let stop = stop.clone();
            let thread = std::thread::Builder::new()
                .name(format!("null {index}"))
                .spawn(move || serve.run(&stop, cpu))?;
            responder.threads.push(thread);
        }
        Ok(responder)
    }
}

/// A responder that serves until it is dropped.
#[derive(Debug)]
pub struct Responder {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<io::Result<u64>>>,
}

impl Responder {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it: every connection is closed. How many requests it read.
    ///
    /// # Errors
    /// What stopped one of its threads before.
    pub fn stop(mut self) -> io::Result<u64> {
        self.end()
    }

    fn end(&mut self) -> io::Result<u64> {
        self.stop.store(true, Ordering::Relaxed);
        let mut requests = 0;
        for thread in self.threads.drain(..) {
            requests += thread.join().map_err(|_| io::Error::other("the null responder panicked"))??;
        }
        Ok(requests)
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        // Whoever wants to know of errors calls stop.
        self.end().unwrap_or_default();
    }
}

/// A socket that listens.
fn listener(address: SocketAddr, backlog: u32) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_socket_reuseport(&socket, true)?;
    bind(&socket, &address)?;
    listen(&socket, i32::try_from(backlog).unwrap_or(i32::MAX))?;
    Ok(socket)
}
