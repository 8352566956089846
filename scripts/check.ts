/** `npm run check`: types, lint, format and the drift of everything that is generated. All steps run; any may fail. */
import { spawnSync } from 'node:child_process'

const node = process.execPath

const steps: Record<string, [command: string, ...args: string[]]> = {
  types: ['tsc', '--noEmit'],
  'lint and format': ['biome', 'check', '--error-on-warnings', '.'],
  'configuration reference': [node, 'cli.ts', 'config-docs', '--check'],
  'API document': [node, 'cli.ts', 'openapi', '--check'],
  'provider reference': [node, 'scripts/provider-docs.ts', '--check'],
  'coverage of the specification': [node, 'scripts/coverage.ts', '--check'],
}

const failed = Object.entries(steps).filter(([name, [command, ...args]]) => {
  const { status } = spawnSync(command, args, { stdio: 'inherit', shell: false })
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name}`)
  return status !== 0
})
process.exitCode = failed.length === 0 ? 0 : 1
