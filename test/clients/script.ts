/** Clients in other languages: a program runs the journeys and prints a line of JSON for each. */
import { execFileSync, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

import { listen } from '../support/processes/listening.ts'
import { journeys, type RunJourney } from './journeys.ts'
import type { World } from './world.ts'

/** A reason to skip a client, or false. */
export function missing(command: string, ...args: string[]): string | false {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return false
  } catch {
    return `${command} ${args.join(' ')} does not work here`
  }
}

/** Runs a step of an installation. Without the package index there is nothing to try: the client is skipped, with its name. */
export function installs(t: TestContext, command: string, args: string[], cwd?: string): boolean {
  try {
    execFileSync(command, args, { cwd, stdio: 'inherit' })
    return true
  } catch {
    t.skip(`${command} ${args.join(' ')} failed: is its package index reachable?`)
    return false
  }
}

/**
 * Runs the program with SERVER, SERVICE_KEY, ANON_KEY and DESK in its environment. It prints
 * `{"journey": …, "error": null or a text}` for each journey. Throws when it ends in any other way.
 */
export async function runScript(
  t: TestContext,
  world: World,
  runJourney: RunJourney,
  [command = '', ...args]: string[],
): Promise<void> {
  const { url: SERVER, serviceKey: SERVICE_KEY, anonKey: ANON_KEY } = world
  const env = { ...process.env, SERVER, SERVICE_KEY, ANON_KEY, DESK: await openDesk(t, world) }
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  const printed = await text(child.stdout)
  for (const line of printed.split('\n').filter(Boolean)) {
    const { journey, error } = readResult(line)
    await runJourney(journey, async () => {
      if (error !== null) throw new Error(error)
    })
  }
  const code = await ended
  if (code !== 0) throw new Error(`${command} ended with ${code}`)
}

function readResult(line: string) {
  const { journey: name, error }: { journey?: unknown; error?: unknown } = JSON.parse(line)
  const journey = journeys.find((known) => known === name)
  if (!journey) throw new Error(`There is no journey ${name}`)
  return { journey, error: error === null ? null : String(error) }
}

/** User actions outside the client over HTTP: such as `GET /mail?to=…`, each with a JSON response. */
async function openDesk(t: TestContext, world: World): Promise<string> {
  const services: Record<string, (requested: URLSearchParams) => unknown> = {
    '/mail': async (requested) => {
      const email = await world.nextEmail(requested.get('to') ?? '')
      return { ...email, token: new URL(email.link).searchParams.get('token') }
    },
    '/nonce': (requested) => world.nextCode(requested.get('to') ?? ''),
    '/text': (requested) => world.nextText(requested.get('phone') ?? ''),
    '/open': (requested) => world.open(requested.get('link') ?? ''),
    '/visit': (requested) => world.visit(requested.get('url') ?? ''),
    '/id_token': (requested) =>
      world.idToken(requested.get('sub') ?? '', requested.get('email') ?? ''),
    '/totp': (requested) =>
      world.totp(requested.get('secret') ?? '', Number(requested.get('ahead') ?? 0)),
  }
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://desk')
    try {
      response.end(JSON.stringify(await services[pathname]?.(searchParams)))
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  t.after(() => void server.close())
  return `http://127.0.0.1:${await listen(server)}`
}
