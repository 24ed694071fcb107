# ReFrame tests that measure with truebench (https://reframe-hpc.readthedocs.io; tried with ReFrame 4.10).
#
#   reframe -c contrib/reframe/truebench.py -r                       each node type of a system, as its configuration says
#   reframe -c contrib/reframe/truebench.py -r -S command='memory --kernel triad --rounds 12'
#
# A figure passes by its verdict, not by its number alone: one that is invalid fails the sanity stage with the check that says why.
# Numbers are compared with `reference` as in any other test; without one they are logged.

import fnmatch
import json
import os
import shlex

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import run_before, sanity_function, variable
from reframe.core.exceptions import SanityError


class TruebenchTest(rfm.RunOnlyRegressionTest):
    '''Base of tests: set `command`, and in a derived test `figures` and `reference`.'''

    #: What to measure, as after `truebench`.
    command = variable(str)
    #: Patterns of the ids of figures that must be there. Others are left out.
    figures = variable(typ.List[str], value=['*'])
    #: Verdicts with which a figure passes.
    accept = variable(typ.List[str], value=['valid', 'suspect', 'unverified'])

    valid_systems = ['*']
    valid_prog_environs = ['*']
    executable = 'truebench'
    #: Figures are of a whole node.
    exclusive_access = True
    num_tasks = 1
    num_tasks_per_node = 1
    record_file = 'record.json'
    keep_files = [record_file]

    @run_before('run')
    def measure_into_a_record(self):
        # Exit code 3 says that some figure is invalid; which one is up to the sanity stage.
        self.executable_opts = [*shlex.split(self.command), '-o', self.record_file]
        self.postrun_cmds = [f'test -s {self.record_file}']

    def _record(self):
        path = os.path.join(self.stagedir, self.record_file)
        try:
            with open(path, encoding='utf-8') as file:
                return json.load(file)
        except (OSError, ValueError) as error:
            raise SanityError(f'truebench {self.command} wrote no record: {error}; see {self.stderr}') from None

    def _selected(self):
        # Controls and baselines help to judge other figures.
        return [
            figure
            for figure in self._record()['figures']
            if not figure.get('role') and any(fnmatch.fnmatchcase(figure['id'], pattern) for pattern in self.figures)
        ]

    @sanity_function
    def figures_can_be_used(self):
        problems = []
        selected = self._selected()
        for pattern in self.figures:
            if not any(fnmatch.fnmatchcase(figure['id'], pattern) for figure in selected):
                problems.append(f'no figure {pattern}')
        for figure in selected:
            if figure['status'] != 'measured':
                problems.append(f"{figure['id']}: {figure['status']}: {figure.get('reason')}")
            elif figure['verdict'] not in self.accept:
                problems.append(f"{figure['id']} is {figure['verdict']}: {first_reason(figure)}")
        return sn.assert_false(problems, '; '.join(problems))

    @run_before('performance')
    def log_each_figure(self):
        self.perf_variables = {
            figure['id']: sn.make_performance_function(sn.defer(figure['value']), figure['unit'] or '1')
            for figure in self._selected()
            if figure['status'] == 'measured'
        }


def first_reason(figure):
    '''The first check that failed or warned, the cause.'''
    for outcome in ('fail', 'warn', 'unknown'):
        for check in figure['checks']:
            if check['outcome'] == outcome and (outcome != 'unknown' or check.get('essential')):
                return f"{check['id']}: {check['detail']}"
    return 'fewer than 6 rounds, or an interval that is too wide'


@rfm.simple_test
class TruebenchMemory(TruebenchTest):
    '''Memory bandwidth of a node: triad with regular stores.'''

    descr = 'truebench: memory bandwidth'
    command = 'memory --quick --kernel triad --stores regular'
    figures = ['memory.triad.regular']
    tags = {'truebench', 'memory'}


@rfm.simple_test
class TruebenchSystem(TruebenchTest):
    '''System calls and pipes of a node.'''

    descr = 'truebench: pipe throughput'
    command = 'system pipe --quick'
    figures = ['system.pipe']
    tags = {'truebench', 'system'}


@rfm.simple_test
class TruebenchFleet(rfm.RunOnlyRegressionTest):
    '''All nodes of a system in one test: one job for each node, started by truebench, and the slow ones named.'''

    descr = 'truebench: which nodes are slow'
    #: Slurm, ssh or local.
    engine = variable(str, value='slurm')
    #: Further options of `truebench fleet run`.
    options = variable(str, value='--tier 60s')
    #: Answers with which a node passes.
    accept = variable(typ.List[str], value=['healthy', 'disturbed', 'not_comparable', 'not_measured'])

    valid_systems = ['*']
    valid_prog_environs = ['*']
    #: The scheduler's jobs are those of truebench.
    local = True
    executable = 'truebench'
    records = 'nodes'
    check_file = 'check.json'
    tags = {'truebench', 'fleet'}

    @run_before('run')
    def measure_every_node(self):
        options = shlex.split(self.options)
        self.executable_opts = ['fleet', 'run', '--engine', self.engine, *map(shlex.quote, options), '-o', self.records]
        self.postrun_cmds = [f'truebench fleet check {self.records} -q -o {self.check_file}']

    def _check(self):
        path = os.path.join(self.stagedir, self.check_file)
        try:
            with open(path, encoding='utf-8') as file:
                return json.load(file)
        except (OSError, ValueError) as error:
            raise SanityError(f'truebench fleet wrote no check: {error}; see {self.stderr}') from None

    @sanity_function
    def nodes_are_accepted(self):
        check = self._check()
        problems = [
            f"{node['name']}: {node['answer']}: {node['why']}"
            for node in check['nodes']
            if node['answer'] not in self.accept
        ]
        if 'not_measured' not in self.accept:
            problems += [f"{one['node']}: not measured: {one['why']}" for one in check['missing']]
        return sn.assert_false(problems, '; '.join(problems))

    @run_before('performance')
    def count_the_answers(self):
        answers = [node['answer'] for node in self._check()['nodes']]
        self.perf_variables = {
            answer: sn.make_performance_function(sn.defer(answers.count(answer)), 'nodes')
            for answer in ('healthy', 'slow', 'disturbed')
        }
