//! The checks on one figure, as a specification: each rule at and around its levels, what it says when it
//! cannot see, and which reason comes first when several hold.

mod arrays;
mod audited;
mod build;
mod cases;
mod causes;
mod copies;
mod cpus;
mod edges;
mod emulated;
mod form;
mod gates;
mod hops;
mod http;
mod lines;
mod loads;
mod noise;
mod numbers;
mod others;
mod partners;
mod prices;
mod programs;
#[path = "../records.rs"]
mod records;
mod requests;
mod support;
mod threads;
mod time;
mod traffic;
mod watched;
