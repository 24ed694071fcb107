//! The HTTP load generator, and the null responder on the same core. Built for speed; what plans and judges is elsewhere.
//!
//! - [`engine`]: loads a server by epoll or io_uring. [`pace`] says when to send, [`stop`] when to end,
//!   [`record`] what to keep.
//! - [`null`]: answers as fast as possible: it measures the client's ceiling, and plants defects for tests.

pub mod engine;
mod kinds;
pub mod null;
pub mod pace;
pub mod record;
pub mod stop;
