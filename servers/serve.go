package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"truebench/servers/internal/handler"
	"truebench/servers/internal/sidecar"
	"truebench/servers/internal/subject"
)

// started is the line that a server prints once it takes connections.
type started struct {
	Server  string `json:"server"`
	Address string `json:"address"`
	Sidecar string `json:"sidecar"`
	PID     int    `json:"pid"`
	// Go is the version of Go that built it.
	Go string `json:"go"`
	// Modules are the versions of what the server is made of.
	Modules map[string]string `json:"modules"`
	// Build holds the settings of the build: GOARCH, GOAMD64, -tags, ...
	Build      map[string]string `json:"build"`
	GOMAXPROCS int               `json:"gomaxprocs"`
	// GOGC is in percent; 18446744073709551615: off.
	GOGC uint64 `json:"gogc"`
	// GOMEMLIMIT is in bytes.
	GOMEMLIMIT uint64       `json:"gomemlimit"`
	Cost       handler.Cost `json:"cost"`
	// Options are the values of all of the server's flags, given or not.
	Options map[string]string `json:"options"`
}

func serve(subject subject.Subject, arguments []string) error {
	flags := flag.NewFlagSet(subject.Name, flag.ExitOnError)
	address := flags.String("addr", "127.0.0.1:0", "`address` to serve at; port 0: any that is free")
	beside := flags.String("sidecar", "127.0.0.1:0", "`address` to be watched at: /debug/pprof/, /debug/vars, /debug/memstats, POST /gc")
	var cost handler.Cost
	cost.Declare(flags)
	serve := subject.New(flags)
	// It exits at an error.
	_ = flags.Parse(arguments)
	if flags.NArg() > 0 {
		return fmt.Errorf("%s takes no argument %q, only flags (-h shows them)", subject.Name, flags.Arg(0))
	}
	if err := cost.Settle(); err != nil {
		return err
	}
	watched, err := sidecar.Start(*beside)
	if err != nil {
		return fmt.Errorf("the sidecar of %s: %w", subject.Name, err)
	}
	go exitWithParent()
	err = serve(*address, cost, func(address net.Addr) { tell(subject, address, watched, cost, flags) })
	return fmt.Errorf("%s at %s: %w", subject.Name, *address, err)
}

// exitWithParent ends the program when standard input ends: whoever started it holds the other end, and may have died.
func exitWithParent() {
	// An error ends it as well.
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func tell(subject subject.Subject, address, watched net.Addr, cost handler.Cost, flags *flag.FlagSet) {
	line := started{
		Server:     subject.Name,
		Address:    address.String(),
		Sidecar:    watched.String(),
		PID:        os.Getpid(),
		Go:         runtime.Version(),
		Modules:    versions(subject.Modules),
		Build:      map[string]string{},
		GOMAXPROCS: runtime.GOMAXPROCS(0),
		GOGC:       metric("/gc/gogc:percent"),
		GOMEMLIMIT: metric("/gc/gomemlimit:bytes"),
		Cost:       cost,
		Options:    map[string]string{},
	}
	if build, known := debug.ReadBuildInfo(); known {
		for _, setting := range build.Settings {
			line.Build[setting.Key] = setting.Value
		}
	}
	flags.VisitAll(func(flag *flag.Flag) { line.Options[flag.Name] = flag.Value.String() })
	if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
		fmt.Fprintf(os.Stderr, "truebench-servers: no reader for the address of the server: %v\n", err)
		os.Exit(1)
	}
}

// metric is a number of package runtime/metrics.
func metric(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// versions are those of the modules by these paths in this program.
func versions(paths []string) map[string]string {
	versions := map[string]string{}
	build, _ := debug.ReadBuildInfo()
	for _, path := range paths {
		versions[path] = "unknown"
		if build == nil {
			continue
		}
		for _, module := range build.Deps {
			if module.Path == path {
				versions[path] = module.Version
			}
		}
	}
	return versions
}
