/**
 * A webhook receiver on loopback that verifies each signature with the standard library and each body against the API
 * document: a deviation fails the test when it ends.
 */
import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

import { Webhook } from 'standardwebhooks'

import type { Ending } from '../processes/ending.ts'
import { listen } from '../processes/listening.ts'
import { until } from '../processes/until.ts'
import { findBodyError } from './webhook-schemas.ts'

export interface Received {
  id: string
  type: string
  timestamp: string
  data: Record<string, unknown>
  headers: IncomingHttpHeaders
  body: string
  path: string
}

/** The response to an event: a status, optionally with headers, or nothing. */
export type Reaction =
  | number
  | { status: number; headers: Record<string, string>; body?: string }
  | 'hang'
  | 'drop'
export type React = (event: Received) => Reaction

/** 32 bytes, as every user may know them. */
export const webhookSecret = `whsec_${Buffer.alloc(32, 'receiver').toString('base64')}`

/** Its endpoint is at `/`; `react` may be replaced at any time. */
export async function webhookReceiver(t: Ending, secret = webhookSecret, react: React = () => 204) {
  const received: Received[] = []
  const rejected: string[] = []
  const errors: string[] = []
  const verifier = new Webhook(secret)
  const receiver = {
    react,
    received,
    rejected,
    faults: errors,
    url: '',
    ofUser,
    next,
    stop,
  }

  const server = createServer(async (request, response) => {
    const body = await text(request)
    const { headers, url: path = '' } = request
    try {
      verifier.verify(body, pickHeaders(headers))
    } catch (error) {
      rejected.push(String(error))
      response.writeHead(401).end()
      return
    }
    const event: Received = {
      ...JSON.parse(body),
      id: String(headers['webhook-id']),
      headers,
      body,
      path,
    }
    received.push(event)
    const fault = findBodyError(body)
    if (fault) errors.push(fault)
    respond(response, receiver.react(event))
  })
  const port = await listen(server)
  receiver.url = `http://127.0.0.1:${port}/`
  t.after(async () => {
    await stop()
    assert.deepEqual(errors, [])
  })

  async function stop(): Promise<void> {
    server.closeAllConnections()
    server.close()
  }

  function ofUser(id: string): Received[] {
    return received.filter(({ data }) => data.user_id === id)
  }

  /** The next event of this type, of any or this user. */
  async function next(type: string, userId?: string, since = 0): Promise<Received> {
    const find = () =>
      received
        .slice(since)
        .find((event) => event.type === type && (!userId || event.data.user_id === userId))
    await until(() => find() !== undefined)
    const event = find()
    if (!event) throw new Error(`no ${type}`)
    return event
  }

  return receiver
}

function pickHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

function respond(response: ServerResponse, reaction: Reaction): void {
  if (reaction === 'hang') return
  if (reaction === 'drop') {
    response.destroy()
    return
  }
  const {
    status,
    headers,
    body = '',
  } = typeof reaction === 'number' ? { status: reaction, headers: {} } : reaction
  response.writeHead(status, headers).end(body)
}

/** Variables for a server to send its events there. */
export function webhookEnv(...receivers: { url: string }[]): Record<string, string> {
  const endpoints = receivers.map(({ url }) => ({ url, secrets: [webhookSecret] }))
  return {
    AUTH_WEBHOOK_ENDPOINTS: JSON.stringify(endpoints),
    AUTH_WEBHOOK_PRIVATE_ADDRESSES: 'true',
  }
}
