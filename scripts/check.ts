/** `npm run check`: types, lint, import rules, and drift of generated files. All steps run, as many at once as cores. */
import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'

import pLimit from 'p-limit'

const node = process.execPath

/** The parts with import rules. */
const parts = [
  'server.ts',
  'cli.ts',
  'version.ts',
  'server',
  'cli',
  'dev',
  'config',
  'modules',
  'routes',
  'plugins',
  'db',
  'mail',
  'sms',
  'providers',
  'schemas',
  'ui',
  'console',
]

const steps: Record<string, [command: string, ...args: string[]]> = {
  types: ['tsc', '--noEmit'],
  'lint and format': ['biome', 'check', '--error-on-warnings', '.'],
  'import rules': [
    node,
    '--import=./scripts/typescript-6.ts',
    'node_modules/.bin/depcruise',
    ...parts,
  ],
  'unused files, exports and dependencies': ['knip'],
  'API document': [node, 'cli.ts', 'openapi', '--check'],
  'types of the API': [
    node,
    '--import=./scripts/typescript-6.ts',
    'scripts/console-types.ts',
    '--check',
  ],
  'types of the console': ['tsc', '--noEmit', '--project', 'console'],
  'configuration reference': [node, 'cli.ts', 'config-docs', '--check'],
  'provider reference': [node, 'scripts/provider-docs.ts', '--check'],
  'coverage of the specification': [node, 'scripts/coverage.ts', '--check'],
  licences: [node, 'scripts/licences.ts'],
  'known vulnerabilities': [node, 'scripts/audit.ts'],
  'image content': [node, 'scripts/image-content.ts'],
  'commit messages': [node, 'scripts/commit-messages.ts', '--check'],
}

const limit = pLimit(availableParallelism())
const results = await Promise.all(
  Object.entries(steps).map(([name, step]) => limit(() => run(name, step))),
)
process.exitCode = results.every(Boolean) ? 0 : 1

/** Whether the step succeeded. Its output is printed at its end. */
function run(name: string, [command, ...args]: [string, ...string[]]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(command, args, { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      process.stdout.write(`${stdout}${stderr}${error ? 'FAILED' : 'ok    '} ${name}\n`)
      resolve(!error)
    })
  })
}
