/**
 * `node scripts/audit.ts`: fails for a known vulnerability of a production package, high or critical. It needs the
 * registry: without it, it prints that it was skipped.
 */
import { spawnSync } from 'node:child_process'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const limitMs = 20_000

const Report = Type.Object({
  vulnerabilities: Type.Record(
    Type.String(),
    Type.Object({ severity: Type.String(), range: Type.String() }),
  ),
})

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json', '--fetch-retries=0'], {
  encoding: 'utf8',
  timeout: limitMs,
  maxBuffer: 64 * 1024 * 1024,
})
const report = parsed(stdout)
if (report === undefined) {
  console.log('Known vulnerabilities were not checked: the registry did not respond to npm audit.')
} else {
  const severe = Object.entries(report.vulnerabilities).filter(([, { severity }]) =>
    ['high', 'critical'].includes(severity),
  )
  for (const [name, { severity, range }] of severe) console.error(`${name} ${range}: ${severity}`)
  if (severe.length > 0) process.exitCode = 1
}

function parsed(text: string) {
  try {
    const report: unknown = JSON.parse(text)
    return Value.Check(Report, report) ? report : undefined
  } catch {
    return undefined
  }
}
