import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json, text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

import { createTarget } from '../../bench/core/target.ts'
import { listen } from '../support/processes/listening.ts'

interface Options {
  /** Added to responses for known emails. */
  leak?: object
  /** Paths that return 422 feature_disabled. */
  disabled?: string[]
}

/** Just enough of the REST API to load it: users, chained refresh tokens, single-use links. */
export async function fakeServer(t: TestContext, options: Options = {}) {
  const state = { emails: new Set<string>(), refreshTokens: new Set<string>(), requests: 0 }
  const server = createServer(async (request, response) => {
    state.requests++
    if (request.url?.startsWith('/sso/')) return signOn(request, response)
    const [status, body, headers = {}] = await respond(request, state, options)
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body))
  })
  const url = `http://127.0.0.1:${await listen(server)}`
  const target = createTarget({ name: 'fake', url, connections: 4, serviceRole: 'service' })
  t.after(async () => {
    await target.close()
    server.close()
  })
  return { target, url, state }
}

/** The OAuth server, whose user granted everything before. */
function ofClient(path: string, state: State): Reply {
  if (path.startsWith('/admin/')) return [201, { client_id: randomUUID(), client_secret: 's' }]
  if (path.startsWith('/oauth/authorize?')) {
    return [302, {}, { location: `https://bench.example/?authorization_id=${randomUUID()}` }]
  }
  if (path.startsWith('/oauth/authorizations/')) {
    return [200, { redirect_url: `https://bench.example/callback?code=${randomUUID()}` }]
  }
  return [200, session(state)]
}

interface State {
  emails: Set<string>
  refreshTokens: Set<string>
}

interface Body {
  email?: string
  refresh_token?: string
}

type Reply = [status: number, body: object, headers?: Record<string, string>]

async function respond(request: IncomingMessage, state: State, options: Options): Promise<Reply> {
  const path = request.url ?? ''
  const body: Body = request.method === 'GET' ? {} : ((await json(request)) as Body)
  if (options.disabled?.some((start) => path.startsWith(start))) {
    return [422, { code: 422, error_code: 'feature_disabled', msg: 'Not here' }]
  }
  if (path.startsWith('/token?grant_type=refresh_token')) return refresh(state, body)
  if (path.startsWith('/oauth/') || path.startsWith('/admin/oauth/')) return ofClient(path, state)
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

/** Metadata, and the redirect after a response that is a form. */
async function signOn(request: IncomingMessage, response: ServerResponse) {
  const form = new URLSearchParams(await text(request))
  const isForm = request.headers['content-type'] === 'application/x-www-form-urlencoded'
  const isGood = isForm && form.get('SAMLResponse')
  const location = isGood ? 'http://site/#access_token=x' : 'http://site/?error=x'
  response.writeHead(302, { location }).end('<EntityDescriptor entityID="x"/>')
}

const passkeyQuestion = {
  challenge_id: randomUUID(),
  options: { challenge: 'AAAA', user: { id: 'AAAA' }, rp: { id: 'localhost' } },
}

/** A token is valid once, so a generator that does not chain tokens fails. */
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
