//! Tasks as the pods of one Indexed Job, which the user applies: no client, no credentials. Records come by a volume that all pods share.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::engine::{Availability, Engine, Kind, Manifest, Offer, Refusal, Settings, State, Task};
use crate::programs::output;

pub const KIND: Kind = Kind {
    name: "kubernetes",
    window: usize::MAX,
    poll: 5.0,
    outlives: true,
    // That of the image.
    program: Some("truebench"),
    open: |settings| Box::new(Kubernetes { settings: settings.clone() }),
};

const DEADLINE: Duration = Duration::from_secs(30);
/// The label by which pods of a run keep apart, and the annotation of a node that truebench took out of service.
const LABEL: &str = "truebench.io/run";
const DRAINED: &str = "truebench.io/drained";
/// The name of a node's label.
const HOSTNAME: &str = "kubernetes.io/hostname";
/// The variable in which a pod finds the name of its node.
const NODE: &str = "TRUEBENCH_NODE";
/// A day, after which a Job that has ended is removed.
const KEEP: u64 = 86_400;

struct Kubernetes {
    settings: Settings,
}

impl Kubernetes {
    fn ask(&self, words: &[&str]) -> Result<String, String> {
        let printed = output(words, "", DEADLINE)?;
        if printed.is_success { Ok(printed.out) } else { Err(printed.complaint()) }
    }

    fn job(&self, tasks: &[Task]) -> Result<Value, String> {
        let first = tasks.first().ok_or("no node")?;
        let lacks = |what: &str| format!("kubernetes needs {what}");
        let image = self.settings.image.as_ref().ok_or_else(|| lacks("--image, with truebench in it"))?;
        let claim = self.settings.claim.as_ref();
        let claim = claim.ok_or_else(|| lacks("--claim, a volume claim that many nodes may write to"))?;
        let resources = resources(&self.settings.options)?;
        let directory = first.directory.to_string_lossy();
        let run = &self.settings.run;
        // $(NAME) in a command is replaced by the kubelet. The node's name in it stands for each of them.
        let command = first.into_directory();
        let command = command.iter().map(|word| match word == &first.node {
            true => format!("$({NODE})"),
            false => word.replace('$', "$$"),
        });
        let command: Vec<String> = command.collect();
        let nodes: Vec<&str> = tasks.iter().map(|task| task.node.as_str()).collect();
        let mut metadata = json!({ "name": run, "labels": { LABEL: run } });
        if let Some(namespace) = &self.settings.partition {
            metadata["namespace"] = json!(namespace);
        }
        Ok(json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": metadata,
            "spec": {
                "completionMode": "Indexed",
                "completions": nodes.len(),
                "parallelism": nodes.len(),
                // A node that fails is one of the answers, and costs no other.
                "backoffLimitPerIndex": 0,
                "maxFailedIndexes": nodes.len(),
                "ttlSecondsAfterFinished": KEEP,
                "template": {
                    "metadata": { "labels": { LABEL: run } },
                    "spec": {
                        "restartPolicy": "Never",
                        "activeDeadlineSeconds": first.seconds.ceil() as u64,
                        "affinity": {
                            "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": {
                                "nodeSelectorTerms": [{ "matchExpressions": [
                                    { "key": HOSTNAME, "operator": "In", "values": nodes },
                                ] }],
                            } },
                            "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [{
                                "topologyKey": HOSTNAME,
                                "labelSelector": { "matchLabels": { LABEL: run } },
                            }] },
                        },
                        "containers": [{
                            "name": "truebench",
                            "image": image,
                            "command": command,
                            "env": [{
                                "name": NODE,
                                "valueFrom": { "fieldRef": { "fieldPath": "spec.nodeName" } },
                            }],
                            // Guaranteed, and whole CPUs of its own where the kubelet's policy is static.
                            "resources": { "requests": resources, "limits": resources },
                            "volumeMounts": [{ "name": "records", "mountPath": directory }],
                        }],
                        "volumes": [{
                            "name": "records",
                            "persistentVolumeClaim": { "claimName": claim },
                        }],
                    },
                },
            },
        }))
    }
}

impl Engine for Kubernetes {
    fn nodes(&mut self, list: Option<&[String]>) -> Result<Vec<Offer>, String> {
        let names = match list {
            Some(list) => list.to_vec(),
            None => {
                let columns = "custom-columns=NAME:.metadata.name,OFF:.spec.unschedulable";
                let text = self.ask(&["kubectl", "get", "nodes", "--no-headers", "-o", columns]);
                let text = text.map_err(|why| format!("{why}; or name the nodes: --nodes LIST"))?;
                return Ok(offers(&text));
            }
        };
        Ok(names.into_iter().map(|node| Offer { node, availability: Availability::Idle }).collect())
    }

    fn start(&mut self, _: &Task) -> Result<String, Refusal> {
        Err(Refusal::Never("its pod is started by the Job: kubectl apply".to_owned()))
    }

    fn poll(&mut self, handles: &[String]) -> Result<Vec<State>, String> {
        // When a pod begins is not known here: only the deadline of the run counts.
        Ok(vec![State::Waits; handles.len()])
    }

    fn stop(&mut self, _: &[String]) {}

    fn manifest(&self, tasks: &[Task]) -> Result<Option<Manifest>, String> {
        let text = serde_saphyr::to_string(&self.job(tasks)?).map_err(|error| error.to_string())?;
        Ok(Some(Manifest { name: "job.yaml", text, apply: "kubectl apply -f" }))
    }

    fn drain(&self, nodes: &[(String, String)]) -> Result<Vec<Vec<String>>, String> {
        let commands = nodes.iter().flat_map(|(node, why)| {
            let cordon = vec!["kubectl".to_owned(), "cordon".to_owned(), node.clone()];
            [cordon, annotate(node, &format!("{DRAINED}={why}"))]
        });
        Ok(commands.collect())
    }

    fn resume(&self, nodes: &[String]) -> Result<Vec<Vec<String>>, String> {
        let column = format!(
            "custom-columns=NAME:.metadata.name,WHY:.metadata.annotations.{}",
            DRAINED.replace('.', r"\.")
        );
        let text = self.ask(&["kubectl", "get", "nodes", "--no-headers", "-o", &column])?;
        let is_ours = |node: &&String| {
            text.lines().any(|line| {
                line.split_once(char::is_whitespace)
                    .is_some_and(|(name, why)| name == node.as_str() && why.trim() != "<none>")
            })
        };
        let commands = nodes.iter().filter(is_ours).flat_map(|node| {
            let uncordon = vec!["kubectl".to_owned(), "uncordon".to_owned(), node.clone()];
            [uncordon, annotate(node, &format!("{DRAINED}-"))]
        });
        Ok(commands.collect())
    }
}

fn annotate(node: &str, what: &str) -> Vec<String> {
    ["kubectl", "annotate", "--overwrite", "node", node, what].map(str::to_owned).to_vec()
}

/// The nodes in what kubectl prints.
fn offers(text: &str) -> Vec<Offer> {
    let offer = |line: &str| {
        let mut words = line.split_whitespace();
        let node = words.next()?.to_owned();
        let is_off = words.next() == Some("true");
        let down = || Availability::Down("it is cordoned".to_owned());
        Some(Offer { node, availability: if is_off { down() } else { Availability::Idle } })
    };
    text.lines().filter_map(offer).collect()
}

/// The size of a pod, from words such as `cpu=62`.
fn resources(options: &[String]) -> Result<Value, String> {
    let mut resources = Map::new();
    for option in options {
        let (name, size) = option.split_once('=').ok_or_else(|| {
            format!("'{option}' is no size of a pod; write --with cpu=62 --with memory=200Gi")
        })?;
        resources.insert(name.to_owned(), json!(size));
    }
    for name in ["cpu", "memory"] {
        if !resources.contains_key(name) {
            return Err(format!(
                "kubernetes needs the size of a pod: --with cpu=62 --with memory=200Gi ({name} is missing); whole CPUs, \
                 and as many as a node has free"
            ));
        }
    }
    Ok(Value::Object(resources))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn tasks(nodes: &[&str]) -> Vec<Task> {
        let task = |node: &&str| Task {
            node: (*node).to_owned(),
            command: ["truebench", "fleet", "measure", "--node", node].map(str::to_owned).to_vec(),
            directory: PathBuf::from("/records"),
            record: PathBuf::from("/records/x.json.gz"),
            log: PathBuf::from("/records/x.log"),
            seconds: 90.5,
        };
        nodes.iter().map(task).collect()
    }

    fn settings() -> Settings {
        Settings {
            run: "truebench-1".into(),
            partition: Some("bench".into()),
            options: vec!["cpu=62".into(), "memory=200Gi".into()],
            image: Some("example.org/truebench:0.1".into()),
            claim: Some("records".into()),
        }
    }

    #[test]
    fn one_pod_for_each_node() {
        let job = Kubernetes { settings: settings() }.job(&tasks(&["a", "b", "c"])).unwrap();
        assert_eq!(job["spec"]["completions"], 3);
        let pod = &job["spec"]["template"]["spec"];
        let command = pod["containers"][0]["command"].as_array().unwrap();
        assert_eq!(command[4], "$(TRUEBENCH_NODE)");
        assert_eq!(pod["activeDeadlineSeconds"], 91);
        assert_eq!(pod["containers"][0]["resources"]["limits"], json!({ "cpu": "62", "memory": "200Gi" }));
        let values = &pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
            [0]["matchExpressions"][0]["values"];
        assert_eq!(*values, json!(["a", "b", "c"]));
    }

    #[test]
    fn what_is_missing_is_named() {
        let why = |settings: Settings| Kubernetes { settings }.job(&tasks(&["a"])).unwrap_err();
        assert!(why(Settings { image: None, ..settings() }).contains("--image"));
        assert!(why(Settings { claim: None, ..settings() }).contains("--claim"));
        assert!(why(Settings { options: vec![], ..settings() }).contains("cpu is missing"));
        assert!(why(Settings { options: vec!["62".into()], ..settings() }).contains("'62'"));
    }

    #[test]
    fn cordoned_nodes_are_down() {
        let offers = offers("a   <none>\nb   true\n");
        assert_eq!(offers[0].availability, Availability::Idle);
        assert!(matches!(offers[1].availability, Availability::Down(_)));
    }
}
