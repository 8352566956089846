/** An operator’s server: verifies each call with the standard library, stores it and responds as configured. */
import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

import { Webhook } from 'standardwebhooks'

import type { Ending } from '../processes/ending.ts'
import { listen } from '../processes/listening.ts'
import { waitTimeoutMs } from '../processes/until.ts'

export interface HookEvent {
  metadata: { uuid: string; time: string; name: string; ip_address: string }
  [key: string]: unknown
}

/** The user of a call’s payload. */
export const userIn = (event: HookEvent) => Object(event.user) as Record<string, unknown>

interface SeenCall {
  /** As parsed by the library. */
  event: HookEvent
  headers: NodeJS.Dict<string | string[]>
}

export interface HookReply {
  status?: number
  headers?: Record<string, string>
  /** As it is, or as JSON. */
  body?: string | object
  /** Replaces the response. */
  act?: (response: ServerResponse) => void
}

type Reply = (event: HookEvent, count: number) => HookReply
type Response = (event: HookEvent) => object

export const hookSecret = `v1,whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** Responds `{}` by default; a call with a wrong signature gets 401. */
export async function startHookReceiver(ending: Ending, { secret = hookSecret } = {}) {
  const webhook = new Webhook(secret.replace('v1,', ''))
  const calls: SeenCall[] = []
  const waiting = new Set<() => void>()
  const state: { reply: Reply } = { reply: () => ({}) }

  const server = createServer(async (request, response) => {
    const body = await text(request)
    try {
      const event = webhook.verify(body, joinValues(request.headers)) as HookEvent
      calls.push({ event, headers: request.headers })
      for (const wake of waiting) wake()
      send(response, state.reply(event, calls.length))
    } catch {
      response.writeHead(401).end()
    }
  })
  const port = await listen(server)
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
    })
  ending.after(stop)
  const url = `http://localhost:${port}/hook`

  return {
    url,
    calls,
    /** From now on. */
    reply(reply: HookReply | Reply) {
      state.reply = typeof reply === 'function' ? reply : () => reply
    },
    /** From now on, with 200. */
    answer(response: object | Response) {
      state.reply = (event) => ({ body: isResponse(response) ? response(event) : response })
    },
    /** Variables that point hooks here. */
    env: (...names: string[]) => hookEnv(url, names, secret),
    /** The calls after the first `since`, once one matches. */
    async next(
      since: number,
      fits: (event: HookEvent) => boolean = () => true,
    ): Promise<HookEvent> {
      const deadline = AbortSignal.timeout(waitTimeoutMs)
      for (;;) {
        const found = calls.slice(since).find(({ event }) => fits(event))
        if (found) return found.event
        if (deadline.aborted) throw new Error('the hook was not called')
        await new Promise<void>((resolve) => {
          waiting.add(resolve)
          deadline.addEventListener('abort', () => resolve(), { once: true })
        })
      }
    },
    stop,
  }
}

/** Variables that switch hooks on at this address. */
export function hookEnv(uri: string, names: readonly string[], secret = hookSecret) {
  return Object.fromEntries(
    names.flatMap((name) => [
      [`AUTH_HOOK_${name}_ENABLED`, 'true'],
      [`AUTH_HOOK_${name}_URI`, uri],
      ...(uri.startsWith('http') ? [[`AUTH_HOOK_${name}_SECRETS`, secret]] : []),
    ]),
  ) as Record<string, string>
}

function joinValues(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

const isResponse = (response: object | Response): response is Response =>
  typeof response === 'function'

function send(response: ServerResponse, { act, status, body = {}, headers }: HookReply): void {
  if (act) {
    act(response)
    return
  }
  const written = typeof body === 'string' ? body : JSON.stringify(body)
  const type = { 'content-type': 'application/json' }
  response.writeHead(status ?? 200, { ...type, ...headers }).end(written)
}
