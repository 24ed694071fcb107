//! Files that are mapped without the page cache, on a guest with an NVDIMM.

use suites::faults::Mechanism;

use crate::bench::streamed;
use crate::guest::Guest;

const MACHINE: &[&str] = &[
    "-machine",
    "q35,nvdimm=on",
    "-smp",
    "2,sockets=1,cores=2,threads=1",
    "-m",
    "768M,slots=2,maxmem=4G",
    "-object",
    "memory-backend-ram,id=nv0,size=256M",
    "-device",
    "nvdimm,memdev=nv0,id=nvdimm0",
];

/// Beside ext4, which is built in.
const MODULES: &[&str] = &["libnvdimm", "nfit", "nd_btt", "nd_pmem"];

/// What ndctl does (create-namespace --mode=fsdax), and a file system. The demo's file has no name in its directory.
const SCRIPT: &str = "
(
    cd /sys/bus/nd/devices
    echo namespace0.0 >/sys/bus/nd/drivers/nd_pmem/unbind
    device=$(cat region0/pfn_seed)
    (
        cd $device
        echo ram >mode
        echo 01234567-89ab-cdef-0123-456789abcdef >uuid
        echo namespace0.0 >namespace
    )
    echo $device >/sys/bus/nd/drivers/nd_pmem/bind
)
busybox mke2fs -b 4096 /dev/pmem0
mkdir /pmem
mount -t ext4 -o dax /dev/pmem0 /pmem
run planted truebench selftest faults/file-dax --format json
export TMPDIR=/pmem
demo='faults demo --format json --iterations 40 --shape'
run read truebench $demo file
run copied truebench $demo file-copy
";

#[test]
#[ignore = "boots a machine in QEMU: make test-long"]
fn files_on_persistent_memory() {
    let Some(guest) = Guest::with_modules(MACHINE, &[], MODULES, SCRIPT) else {
        println!("skipped: no modules beside the guest's kernel (.ci/guest)");
        return;
    };

    for (name, mechanism) in [("read", Mechanism::Dax), ("copied", Mechanism::FileCopy)] {
        let ran = guest.ran(name);
        let record = streamed(&ran.stderr);
        let main = suites::mechanisms::notable(&record.figures).first().map(|figure| figure.id.clone());
        assert_eq!(main, Some(format!("faults.mechanism.{mechanism}")), "{ran:?}");
    }
    let ran = guest.ran("planted");
    let table: serde_json::Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let row = &table["rows"][0];
    let tally = (&row["first"], &row["clean"], &row["alarms"]);
    assert_eq!(tally, (&1.into(), &1.into(), &0.into()), "{row:#}");
}
