//! The tests of this crate in one program, which is linked once.

mod capture;
mod captured;
mod common;
mod containers;
mod contradictions;
mod damage;
mod details;
mod foreign;
mod kinds;
mod known_answers;
mod live;
mod tiers;
mod uncore;
mod witness;
