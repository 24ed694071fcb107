//! A machine that is not here, booted in QEMU.
//!
//! Its processor is emulated (TCG), so that figures mean nothing; topology, distances, page placement and the kernel
//! are real. `make test-long` gets what it is made of (.ci/guest), and says what is missing.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A boot takes some seconds, each run of truebench in it some ten; a machine that does other things takes several times
/// that. After this the guest hangs.
const DEADLINE: Duration = Duration::from_secs(600);

/// How the guest's processors are emulated.
const PARALLEL: Emulation = Emulation { accelerator: "tcg,thread=multi", kernel: "" };
/// In turns, as a clock needs that counts their instructions (-icount). Kernel and QEMU 7.2 wait for one another when a second
/// processor is begun at boot: one comes alone, others when they are asked for.
const IN_TURNS: Emulation = Emulation { accelerator: "tcg,thread=single", kernel: " maxcpus=1 tsc=reliable" };

struct Emulation {
    accelerator: &'static str,
    kernel: &'static str,
}

/// The first process of the guest: gets it ready, does what is asked, switches it off.
const INIT: &str = "#!/bin/busybox sh
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t cgroup2 group /sys/fs/cgroup
exec </dev/null >/dev/ttyS1 2>&1
# Runs a command and says what it wrote and how it ended.
run() {
    name=$1
    shift
    \"$@\" >/tmp/out 2>/tmp/err
    code=$?
    tell \"$name\" $code
}
tell() {
    echo \"@@ $1 $2\"
    cat /tmp/out
    echo '@@ stderr'
    cat /tmp/err
    echo '@@ end'
}
. /script
poweroff -f
";

/// What a command in the guest wrote, and its exit code.
#[derive(Debug)]
pub struct Ran {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// What came of the commands of a script, by the names that it gives them.
#[derive(Debug)]
pub struct Guest {
    output: String,
    /// The log of its kernel.
    console: String,
}

impl Guest {
    /// Boots a guest that is what QEMU's arguments say, runs a shell script in it (`run NAME COMMAND…`), and waits until it
    /// is off.
    pub fn run(machine: &[&str], script: &str) -> Guest {
        Guest::boot(&PARALLEL, machine, &[], script, DEADLINE)
    }

    /// The same with more `programs` beside truebench, and with these `modules` of the kernel, loaded in this order. `None` if one is not
    /// there: a kernel of your own may come without modules.
    pub fn with_modules(
        machine: &[&str],
        programs: &[&Path],
        modules: &[&str],
        script: &str,
    ) -> Option<Guest> {
        let directory = modules_directory();
        let are_there = modules.iter().all(|module| directory.join(format!("{module}.ko")).exists());
        let load: String = modules.iter().map(|module| format!("insmod /modules/{module}.ko\n")).collect();
        are_there.then(|| Guest::boot(&PARALLEL, machine, programs, &format!("{load}{script}"), DEADLINE))
    }

    /// The same with processors that take turns, and more `programs` beside truebench.
    pub fn in_turns(machine: &[&str], programs: &[&Path], script: &str, deadline: Duration) -> Guest {
        Guest::boot(&IN_TURNS, machine, programs, script, deadline)
    }

    fn boot(
        emulation: &Emulation,
        machine: &[&str],
        programs: &[&Path],
        script: &str,
        deadline: Duration,
    ) -> Guest {
        let directory = tempfile::tempdir().unwrap();
        let image = image(directory.path(), programs, script);
        let mut qemu = Command::new("qemu-system-x86_64");
        qemu.args(["-accel", emulation.accelerator, "-nodefaults", "-display", "none", "-no-reboot"])
            .args(machine)
            // The kernel's own messages apart from the results.
            .arg("-serial")
            .arg(format!("file:{}", directory.path().join("console").display()))
            .args(["-serial", "stdio"])
            // Mitigations make an emulated switch several times as dear, and nothing else.
            .arg("-append")
            .arg(format!("console=ttyS0 panic=-1 loglevel=4 mitigations=off{}", emulation.kernel))
            .arg("-kernel")
            .arg(part("vmlinuz"))
            .arg("-initrd")
            .arg(image)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let guest = qemu
            .spawn()
            .unwrap_or_else(|error| panic!("qemu-system-x86_64: {error}; make test-long gets it"));
        let output = until_off(guest, deadline);
        let console = std::fs::read_to_string(directory.path().join("console")).unwrap_or_default();
        match output {
            Some(output) => Guest { output, console },
            None => panic!("the guest was not off after {} s; its console:\n{console}", deadline.as_secs()),
        }
    }

    /// What the command of this name did.
    pub fn ran(&self, name: &str) -> Ran {
        let head = format!("@@ {name} ");
        let parts = || {
            let (_, rest) = self.output.split_once(&head)?;
            let (code, rest) = rest.split_once('\n')?;
            let (stdout, rest) = rest.split_once("@@ stderr\n")?;
            let (stderr, _) = rest.split_once("@@ end")?;
            Some(Ran { code: code.parse().ok()?, stdout: stdout.to_owned(), stderr: stderr.to_owned() })
        };
        parts().unwrap_or_else(|| {
            panic!(
                "nothing of {name} in what the guest wrote:\n{}\nits console:\n{}",
                self.output, self.console
            )
        })
    }
}

/// A file that `.ci/guest` gets.
fn part(name: &str) -> PathBuf {
    let directory = std::env::var_os("TRUEBENCH_GUEST").map(PathBuf::from);
    let file = directory.map(|directory| directory.join(name)).filter(|file| file.exists());
    file.unwrap_or_else(|| {
        panic!("no {name}: run .ci/guest DIR and set TRUEBENCH_GUEST=DIR, as make test-long does")
    })
}

fn modules_directory() -> PathBuf {
    part("vmlinuz").with_file_name("modules")
}

/// Everything that the guest wrote; `None` if it had to be ended.
fn until_off(mut guest: Child, deadline: Duration) -> Option<String> {
    let mut output = guest.stdout.take().expect("a pipe");
    let (done, written) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = output.read_to_end(&mut bytes);
        let _ = done.send(bytes);
    });
    let bytes = written.recv_timeout(deadline).ok();
    let _ = guest.kill();
    let _ = guest.wait();
    // The serial line ends lines as terminals do.
    bytes.map(|bytes| String::from_utf8_lossy(&bytes).replace('\r', ""))
}

/// The guest's files as its kernel unpacks them: truebench, its cell and other programs with their libraries, busybox, the
/// script.
fn image(directory: &Path, programs: &[&Path], script: &str) -> PathBuf {
    let root = directory.join("root");
    let put = |file: &Path, at: &str| {
        let to = root.join(at.trim_start_matches('/'));
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(file, &to).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    };
    let own_programs =
        [env!("CARGO_BIN_EXE_truebench"), env!("CARGO_BIN_EXE_truebench-workload")].map(Path::new);
    for program in own_programs.iter().chain(programs) {
        put(program, &format!("/bin/{}", program.file_name().unwrap().display()));
        for library in libraries(program) {
            put(Path::new(&library), &library);
        }
    }
    put(&part("busybox"), "/bin/busybox");
    let commands = [
        "sh", "mount", "cat", "echo", "mkdir", "grep", "poweroff", "taskset", "sleep", "rmdir", "insmod",
        "ls", "head", "id", "sed",
    ];
    for command in commands {
        std::os::unix::fs::symlink("/bin/busybox", root.join("bin").join(command)).unwrap();
    }
    for module in modules_directory().read_dir().into_iter().flatten().flatten() {
        put(&module.path(), &format!("/modules/{}", module.file_name().display()));
    }
    for empty in ["proc", "sys", "dev", "tmp"] {
        std::fs::create_dir(root.join(empty)).unwrap();
    }
    std::fs::write(root.join("script"), script).unwrap();
    std::fs::write(root.join("init"), INIT).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(root.join("init"), executable).unwrap();
    let image = directory.join("initrd");
    let packed = Command::new("sh")
        .args(["-c", "find . | cpio --quiet -o -H newc > \"$0\""])
        .arg(&image)
        .current_dir(&root)
        .status()
        .expect("sh starts");
    assert!(packed.success(), "cpio: make test-long gets it");
    image
}

/// Shared libraries of a program, by ldd: lines of `name => /path (address)` and `/path (address)`.
fn libraries(binary: &Path) -> Vec<String> {
    let output = Command::new("ldd").arg(binary).output().expect("ldd (libc-bin) starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().filter(|word| word.starts_with('/')).map(str::to_owned).collect()
}
