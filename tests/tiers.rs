//! Nodes without CPUs, for real: memory that HMAT describes, an NVDIMM that the kernel uses as RAM, and a CXL memory device.
//!
//! The processors are emulated, where a rate means nothing. What is asserted is which rows there are, what they are called, and
//! where the pages lie. Interleaving by weight needs Linux 6.9 and is tested with synthetic trees (crates/machine/tests/tiers.rs).
#![cfg(target_arch = "x86_64")]

use std::path::Path;

use figure::host::MemoryKind;
use figure::{Figure, Machine, Outcome, Record, Status, evidence};

use crate::guest::{Guest, Ran};

/// One package, and 384 MiB on node 1, of which HMAT states 16 GiB/s and 300 ns. Node 2 is for what comes later.
const WITH_HMAT: &[&str] = &[
    "-machine",
    "q35,hmat=on,nvdimm=on",
    "-smp",
    "2,sockets=1,cores=2,threads=1",
    "-m",
    "1152M,slots=2,maxmem=4G",
    "-object",
    "memory-backend-ram,id=m0,size=768M",
    "-object",
    "memory-backend-ram,id=m1,size=384M",
    "-numa",
    "node,nodeid=0,cpus=0-1,memdev=m0",
    "-numa",
    "node,nodeid=1,memdev=m1,initiator=0",
    "-numa",
    "node,nodeid=2,initiator=0",
    "-numa",
    "dist,src=0,dst=1,val=17",
    "-numa",
    "dist,src=0,dst=2,val=28",
    "-numa",
    "dist,src=1,dst=2,val=28",
    "-numa",
    "hmat-lb,initiator=0,target=0,hierarchy=memory,data-type=access-latency,latency=100",
    "-numa",
    "hmat-lb,initiator=0,target=0,hierarchy=memory,data-type=access-bandwidth,bandwidth=64G",
    "-numa",
    "hmat-lb,initiator=0,target=1,hierarchy=memory,data-type=access-latency,latency=300",
    "-numa",
    "hmat-lb,initiator=0,target=1,hierarchy=memory,data-type=access-bandwidth,bandwidth=16G",
    "-object",
    "memory-backend-ram,id=nv0,size=640M",
    "-device",
    "nvdimm,memdev=nv0,id=nvdimm0,node=2",
];

/// One package, and a CXL device of 512 MiB below a host bridge of its own. With one root port the kernel takes the bridge for
/// a pass-through and leaves its decoder alone, without which QEMU 7.2 drops every write.
const WITH_CXL: &[&str] = &[
    "-machine",
    "q35,cxl=on,cxl-fmw.0.targets.0=cxl.1,cxl-fmw.0.size=4G",
    "-smp",
    "2,sockets=1,cores=2,threads=1",
    "-m",
    "768M,slots=4,maxmem=8G",
    "-object",
    "memory-backend-ram,id=m0,size=768M",
    "-numa",
    "node,nodeid=0,cpus=0-1,memdev=m0",
    "-object",
    "memory-backend-ram,id=cxl-memory,size=512M,share=on",
    "-object",
    "memory-backend-ram,id=labels,size=1M,share=on",
    "-device",
    "pxb-cxl,bus_nr=12,bus=pcie.0,id=cxl.1",
    "-device",
    "cxl-rp,port=0,bus=cxl.1,id=port0,chassis=0,slot=2",
    "-device",
    "cxl-rp,port=1,bus=cxl.1,id=port1,chassis=0,slot=3",
    "-device",
    "cxl-type3,bus=port0,memdev=cxl-memory,lsa=labels,id=expander",
];

/// What ndctl and daxctl do: a namespace as a DAX device, and the device as RAM.
const AS_RAM: &str = "
as_ram() {
    cd /sys/bus/nd/devices
    # Without labels it is a block device of its own.
    echo namespace0.0 >/sys/bus/nd/drivers/nd_pmem/unbind
    device=$(cat region0/dax_seed)
    (
        cd $device
        echo 4096 >align
        echo pmem >mode
        echo 01234567-89ab-cdef-0123-456789abcdef >uuid
        echo namespace0.0 >namespace
    )
    echo $device >/sys/bus/nd/drivers/dax_pmem/bind
    device=$(ls /sys/bus/dax/devices | head -n 1)
    echo $device >/sys/bus/dax/drivers/device_dax/unbind
    echo $device >/sys/bus/dax/drivers/kmem/new_id
    for state in /sys/devices/system/memory/memory*/state; do
        [ $(cat $state) = online ] || echo online_movable >$state
    done
}
";

/// A region of the device's whole memory, which the kernel of Debian 12 makes of persistent memory only (of volatile memory since
/// Linux 6.3).
const CXL_REGION: &str = "
sleep 1
cd /sys/bus/cxl/devices
endpoint=$(ls -d decoder*/dpa_size)
endpoint=${endpoint%/dpa_size}
echo pmem >$endpoint/mode
echo 0x20000000 >$endpoint/dpa_size
region=$(cat decoder0.0/create_pmem_region)
echo $region >decoder0.0/create_pmem_region
(
    cd $region
    echo 256 >interleave_granularity
    echo 1 >interleave_ways
    echo 01234567-89ab-cdef-0123-456789abcdee >uuid
    echo 0x20000000 >size
    echo $endpoint >target0
    echo 1 >commit
)
echo $region >/sys/bus/cxl/drivers/cxl_region/bind
cd /sys/bus/nd/devices
echo 11234567-89ab-cdef-0123-456789abcdef >namespace0.0/uuid
echo $((0x20000000)) >namespace0.0/size
";

fn record(ran: &Ran) -> Record {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn kind(machine: &Machine, node: u32) -> Option<MemoryKind> {
    machine.node(node)?.memory_kind()
}

/// A measured figure whose results are right.
#[track_caller]
fn measured<'a>(record: &'a Record, id: &str) -> &'a Figure {
    let figure = record.figure(id).unwrap_or_else(|| panic!("no {id}"));
    assert_eq!(figure.status, Status::Measured, "{id}: {:?}", figure.reason);
    assert_eq!(figure.evidence.get(evidence::VERIFIED).into_value(), Some(true), "{id}");
    figure
}

/// The answer of numa-placement.
#[track_caller]
fn placed(figure: &Figure) -> (Outcome, &str) {
    let check = figure.checks.iter().find(|check| check.id == "numa-placement").unwrap();
    (check.outcome, &check.case)
}

#[test]
#[ignore = "boots a machine in QEMU: make test-long"]
fn memory_that_hmat_describes_and_an_nvdimm_as_ram() {
    let script = format!(
        "{AS_RAM}as_ram\n\
        run host truebench host\n\
        run numa truebench memory numa --array-size 1MiB --rounds 6 --format json\n\
        mix='memory mix --mix 1:0,1:1 --array-size 2MiB --rounds 6 --format json'\n\
        run mix truebench $mix\n\
        run one truebench $mix --nodes 2\n\
        run interleaved numactl --interleave=0-1 truebench $mix\n\
        run bound numactl --membind=1 truebench $mix\n\
        mkdir /sys/fs/cgroup/far\n\
        echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control\n\
        echo 1 >/sys/fs/cgroup/far/cpuset.mems\n\
        run far sh -c \"echo \\$\\$ >/sys/fs/cgroup/far/cgroup.procs; exec truebench $mix\"\n",
    );
    let modules = ["libnvdimm", "nfit", "nd_btt", "nd_pmem", "dax_pmem", "device_dax", "kmem"];
    let numactl = Path::new("/usr/bin/numactl");
    let Some(guest) = Guest::with_modules(WITH_HMAT, &[numactl], &modules, &script) else {
        println!("skipped: no modules beside the guest's kernel (.ci/guest)");
        return;
    };

    let host = guest.ran("host").stdout;
    for part in
        ["│ memory without CPUs", "│ persistent memory", "17.2 GB/s and 300 ns for reads", "(kmem); tier"]
    {
        assert!(host.contains(part), "no '{part}' in: {host}");
    }
    let numa = record(&guest.ran("numa"));
    assert_eq!((kind(&numa.machine, 1), kind(&numa.machine, 2)), (None, Some(MemoryKind::Persistent)));
    let why = numa.machine.node(1).unwrap().kind.as_ref().unwrap().reason().unwrap();
    assert!(why.contains("no CXL region, DAX device or GPU driver names it"), "{why}");
    let hmat = numa.machine.node(1).unwrap().hmat.clone().unwrap();
    assert_eq!((hmat.read_latency, hmat.initiators.to_string()), (Some(300.0), "0".to_owned()));
    assert!(numa.machine.node(2).unwrap().tier > numa.machine.node(0).unwrap().tier);
    assert_eq!(numa.figures.len(), 6, "three columns, one row");
    for memory in ["0", "1", "2"] {
        for series in ["bandwidth", "latency"] {
            let figure = measured(&numa, &format!("memory.numa.{series}.0.{memory}"));
            assert_eq!(figure.evidence.get(evidence::NUMA_NODE_SHARE).into_value(), Some(1.0));
            assert_eq!(placed(figure).0, Outcome::Pass);
        }
    }
    let basis = |id: &str| measured(&numa, id).limit.clone().map(|limit| limit.basis);
    assert_eq!(basis("memory.numa.bandwidth.0.1").unwrap(), "HMAT says 17.2 GB/s from node 0");
    assert_eq!(basis("memory.numa.latency.0.1").unwrap(), "HMAT says 300 ns from node 0");
    let highest = basis("memory.numa.bandwidth.0.2").unwrap();
    assert!(highest.starts_with("the highest traffic to node 2 in this run"), "{highest}");

    let mix = record(&guest.ran("mix"));
    let ids: Vec<&str> = mix.figures.iter().map(|figure| figure.id.as_str()).collect();
    let of = |memory: &str| ["1:0", "1:1"].map(|mix| format!("memory.mix.{memory}{mix}"));
    assert_eq!(ids, [of(""), of("node1."), of("node2.")].concat());
    for id in &ids {
        let figure = measured(&mix, id);
        assert_eq!(placed(figure).0, Outcome::Pass, "{id}");
        assert_eq!(figure.conditions.get(evidence::MEMORY_POLICY), None, "{id}");
    }
    let one = record(&guest.ran("one"));
    assert_eq!(one.figures.iter().map(|figure| figure.id.clone()).collect::<Vec<_>>(), of("node2."));

    for (name, policy, case) in
        [("interleaved", "interleave:0-1", "pages-by-policy"), ("bound", "bind:1", "pages-by-policy")]
    {
        let record = record(&guest.ran(name));
        assert_eq!(record.machine.numa.policy.as_deref(), Some(policy));
        let figure = measured(&record, "memory.mix.1:0");
        assert_eq!(figure.conditions.get(evidence::MEMORY_POLICY).as_deref(), Some(policy));
        assert_eq!(placed(figure), (Outcome::Pass, case), "{name}");
        let bound = measured(&record, "memory.mix.node2.1:0");
        assert_eq!(bound.conditions.get(evidence::MEMORY_POLICY), None, "bound to its own node");
    }
    // The planted defect, whose clean twin is the plain run above: pages of a default figure on memory without CPUs.
    let far = record(&guest.ran("far"));
    let figure = measured(&far, "memory.mix.1:0");
    assert_eq!(placed(figure), (Outcome::Fail, "pages-without-cpus"));
    let closed = far.figure("memory.mix.node2.1:0").unwrap();
    assert!(closed.reason.as_deref().unwrap().contains("Mems_allowed"), "{:?}", closed.reason);
}

#[test]
#[ignore = "boots a machine in QEMU: make test-long"]
fn memory_behind_cxl() {
    let modules = [
        "libnvdimm",
        "nd_btt",
        "nd_pmem",
        "dax_pmem",
        "device_dax",
        "kmem",
        "cxl_acpi",
        "cxl_pci",
        "cxl_mem",
        "cxl_pmem",
    ];
    let script = format!(
        "{CXL_REGION}{AS_RAM}as_ram\n\
        run host truebench host\n\
        run numa truebench memory numa --array-size 500000 --rounds 6 --format json\n\
        run mix truebench memory mix --nodes 1 --mix 2:1 --array-size 1MiB --rounds 6 --format json\n",
    );
    let Some(guest) = Guest::with_modules(WITH_CXL, &[], &modules, &script) else {
        println!("skipped: no modules beside the guest's kernel (.ci/guest)");
        return;
    };
    let host = guest.ran("host").stdout;
    assert!(host.contains("│ CXL memory"), "{host}");
    let numa = record(&guest.ran("numa"));
    assert_eq!(kind(&numa.machine, 1), Some(MemoryKind::Cxl));
    let fastest = |id: &str| measured(&numa, id).kept_values().into_iter().fold(f64::INFINITY, f64::min);
    let (near, far) = (fastest("memory.numa.latency.0.0"), fastest("memory.numa.latency.0.1"));
    // Every access to it is a call of the device's emulation: some ten times as far.
    assert!(far > near, "{far} ns against {near} ns");
    assert!(measured(&numa, "memory.numa.bandwidth.0.1").name.ends_with("(CXL memory)"));
    assert_eq!(numa.figures.len(), 4);
    let mix = record(&guest.ran("mix"));
    assert_eq!(placed(measured(&mix, "memory.mix.node1.2:1")).0, Outcome::Pass);
}
