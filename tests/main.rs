//! End-to-end tests: the binary as a user runs it. One file for each theme.

mod alignment;
mod alloc;
mod alloc_record;
mod alloc_try;
mod audit;
mod bench;
mod c2c;
mod compare;
mod confined;
mod cores;
mod counters;
mod cross;
mod defects;
mod ending;
mod faults_allocs;
mod faults_calls;
mod faults_demo;
mod faults_prices;
mod faults_prove;
mod faults_real;
mod faults_walk;
mod faults_watch;
mod group;
#[cfg(target_arch = "x86_64")]
mod guest;
mod host;
mod hostile;
mod html;
mod http_defects;
mod http_list;
mod http_load;
mod http_long;
mod http_null;
mod http_remote;
#[cfg(target_arch = "x86_64")]
mod idle;
mod inspect;
mod ladders;
mod loads;
mod noise;
mod numa;
mod record;
mod responder;
mod sandbox;
mod scaling;
mod soak;
mod studies;
mod switch;
mod system;
#[cfg(target_arch = "x86_64")]
mod topology;
mod truth;
mod unixbench;
mod usage;
mod versions;
mod whole;
