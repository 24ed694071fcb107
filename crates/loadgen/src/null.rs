//! The null responder: answers every request with the same bytes, as fast as possible, and with faults on
//! demand.
//!
//! It measures the client's ceiling, and stands for defective servers in tests.

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
pub use faults::{Delay, Drift, Fault, Faults, Neglect, OneIn, RequestPosition, Stall};
pub use serve::{ParsedRequest, parse_request};

#[derive(Clone, Debug)]
pub struct Null {
    /// Port 0 chooses a free one.
    pub address: SocketAddr,
    /// At least 1. The kernel distributes connections over threads by a hash (SO_REUSEPORT).
    pub threads: u32,
    pub cpus: Option<CpuList>,
    /// Backlog of each thread's socket.
    pub backlog: u32,
    pub answer: Answer,
    pub faults: Faults,
}

impl Null {
    pub fn local(answer: Answer) -> Null {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        Null { address, threads: 1, cpus: None, backlog: 4096, answer, faults: Faults::default() }
    }

    pub fn start(&self) -> io::Result<Responder> {
        let mut address = self.address;
        let stop = Arc::new(AtomicBool::new(false));
        let mut responder = Responder { address, stop: stop.clone(), threads: Vec::new() };
        for index in 0..self.threads.max(1) {
            let listener = listener(address, self.backlog)?;
            let bound: SocketAddr = getsockname(&listener)?.try_into()?;
            (address, responder.address) = (bound, bound);
            let cpus: Option<Vec<u32>> = self.cpus.as_ref().map(|cpus| cpus.iter().collect());
            let cpu = cpus.filter(|cpus| !cpus.is_empty()).map(|cpus| cpus[index as usize % cpus.len()]);
            let serve = serve::ServeThread::new(listener, &self.answer, &self.faults)?;
            let stop = stop.clone();
            let thread = std::thread::Builder::new()
                .name(format!("null {index}"))
                .spawn(move || serve.run(&stop, cpu))?;
            responder.threads.push(thread);
        }
        Ok(responder)
    }
}

#[derive(Debug)]
pub struct Responder {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<io::Result<u64>>>,
}

impl Responder {
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes all connections; returns the number of requests read.
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
        // Call `stop` to get errors.
        self.end().unwrap_or_default();
    }
}

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
