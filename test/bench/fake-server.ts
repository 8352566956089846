import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

import { createTarget } from '../../bench/target.ts'
import { listen } from '../support/listening.ts'

interface Options {
  /** Added to the answers about known addresses. */
  leak?: object
  /** Paths that answer 422 feature_disabled. */
  disabled?: string[]
}

/** Just enough of the REST API to load it: people, chained refresh tokens, single-use links. */
export async function fakeServer(t: TestContext, options: Options = {}) {
  const state = { emails: new Set<string>(), refreshTokens: new Set<string>(), requests: 0 }
  const server = createServer(async (request, response) => {
    state.requests++
    const [status, body] = await answer(request, state, options)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const url = `http://127.0.0.1:${await listen(server)}`
  const target = createTarget({ name: 'fake', url, connections: 4, serviceRole: 'service' })
  t.after(async () => {
    await target.close()
    server.close()
  })
  return { target, url, state }
}

interface State {
  emails: Set<string>
  refreshTokens: Set<string>
}

interface Body {
  email?: string
  refresh_token?: string
}

type Reply = [status: number, body: object]

async function answer(request: IncomingMessage, state: State, options: Options): Promise<Reply> {
  const path = request.url ?? ''
  const body: Body = request.method === 'GET' ? {} : ((await json(request)) as Body)
  if (options.disabled?.some((start) => path.startsWith(start))) {
    return [422, { code: 422, error_code: 'feature_disabled', msg: 'Not here' }]
  }
  if (path.startsWith('/token?grant_type=refresh_token')) return refresh(state, body)
  if (path.endsWith('/options')) return [200, passkeyQuestion]
  if (path.startsWith('/admin/users')) {
    if (body.email) state.emails.add(body.email)
    return [200, { id: randomUUID(), email: body.email }]
  }
  if (path === '/factors') return [200, { id: randomUUID(), totp: { secret: 'JBSWY3DPEHPK3PXP' } }]
  if (path.endsWith('/challenge')) return [200, { id: randomUUID() }]
  const isKnown = state.emails.has(body.email ?? '')
  return [200, { ...session(state), email: body.email, ...(isKnown ? options.leak : {}) }]
}

const passkeyQuestion = {
  challenge_id: randomUUID(),
  options: { challenge: 'AAAA', user: { id: 'AAAA' }, rp: { id: 'localhost' } },
}

/** A token is good once, so a generator that does not chain them fails. */
function refresh(state: State, { refresh_token = '' }: Body): Reply {
  if (!state.refreshTokens.delete(refresh_token)) {
    return [400, { code: 400, error_code: 'refresh_token_already_used', msg: 'Already Used' }]
  }
  return [200, session(state)]
}

function session(state: State) {
  const refresh_token = randomUUID()
  state.refreshTokens.add(refresh_token)
  return { access_token: 'access', refresh_token }
}
