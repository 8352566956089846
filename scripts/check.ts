/** `npm run check`: types, lint, format, and drift of generated files. All steps run. */
import { spawnSync } from 'node:child_process'

const node = process.execPath

const steps: Record<string, [command: string, ...args: string[]]> = {
  types: ['tsc', '--noEmit'],
  'types of the console': ['tsc', '--noEmit', '--project', 'console'],
  'lint and format': ['biome', 'check', '--error-on-warnings', '.'],
  'import graph': [node, 'scripts/import-graph.ts'],
  'configuration reference': [node, 'cli.ts', 'config-docs', '--check'],
  'API document': [node, 'cli.ts', 'openapi', '--check'],
  'provider reference': [node, 'scripts/provider-docs.ts', '--check'],
  'replaced words': [node, 'scripts/words.ts', '--check'],
  'coverage of the specification': [node, 'scripts/coverage.ts', '--check'],
  licences: [node, 'scripts/licences.ts'],
  'known vulnerabilities': [node, 'scripts/audit.ts'],
  'image content': [node, 'scripts/image-content.ts'],
  'commit messages': [node, 'scripts/commit-messages.ts', '--check'],
}

const failed = Object.entries(steps).filter(([name, [command, ...args]]) => {
  const { status } = spawnSync(command, args, { stdio: 'inherit', shell: false })
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name}`)
  return status !== 0
})
process.exitCode = failed.length === 0 ? 0 : 1
