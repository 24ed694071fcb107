//! Tasks on this machine: for laptops and tests. Several are several measurements of one machine, one after the other.

use crate::children::{Children, Launch, with_lifeline};
use crate::engine::{Kind, Task};

pub const KIND: Kind = Kind {
    name: "local",
    window: 1,
    poll: 0.2,
    outlives: false,
    program: None,
    open: |_| Box::new(Children::new(Local)),
};

struct Local;

impl Launch for Local {
    const BY_STDOUT: bool = false;

    fn words(&self, task: &Task) -> Vec<String> {
        with_lifeline(task.into_directory())
    }

    fn nodes(&self) -> Result<Vec<String>, String> {
        Ok(vec![rustix::system::uname().nodename().to_string_lossy().into_owned()])
    }
}
