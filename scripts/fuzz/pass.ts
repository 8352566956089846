/** Runs schemathesis once. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { PassOptions } from './passes.ts'
import type { Schemathesis } from './schemathesis.ts'
import type { FuzzedServer } from './server.ts'

interface Run {
  schemathesis: Schemathesis
  folder: string
  server: FuzzedServer
  options: PassOptions
  signal: AbortSignal
}

const document = new URL('../../docs/openapi.json', import.meta.url).pathname

const checks = [
  'not_a_server_error',
  'response_schema_conformance',
  'content_type_conformance',
  'status_code_conformance',
  'response_headers_conformance',
]

const fixedOptions = [
  '--phases',
  'examples,coverage,fuzzing',
  '--checks',
  checks.join(),
  // Workers are threads, with which Python 3.11 fails occasionally (gh-106905).
  '--max-examples',
  '20',
  '--workers',
  '1',
  '--request-timeout',
  '10',
  '--max-redirects',
  '0',
  '--warnings',
  'off',
  '--no-color',
  '--suppress-health-check',
  'all',
  '--generation-database',
  'none',
  '--continue-on-failure',
]

/** Returns true without findings. Findings are printed with a curl command that reproduces them. */
export async function runPass({ schemathesis, folder, server, options, signal }: Run) {
  const { choice, token, parameters = {} } = options
  const config = join(folder, 'schemathesis.toml')
  await writeFile(config, `[parameters]\n${lines(parameters)}`)
  const args = [
    ...schemathesis.args,
    '--config-file',
    config,
    'run',
    document,
    '--url',
    server.url,
    ...fixedOptions,
    ...(token === undefined ? [] : ['--header', `Authorization:Bearer ${token}`]),
    ...choice,
    ...process.argv.slice(2),
  ]
  const child = spawn(schemathesis.command, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, ...schemathesis.env },
    stdio: ['ignore', 'inherit', 'inherit'],
    signal,
  })
  // When ended by a signal it emits an error as well; the exit code is enough.
  child.on('error', () => {})
  const [code] = await once(child, 'close').catch(() => [1])
  return code === 0
}

function lines(parameters: Record<string, string>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
    .join('')
}
