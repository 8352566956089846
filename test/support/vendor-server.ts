/** A loopback server in the place of a vendor: it notes every request and answers from a list. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

import type { Ending } from './ending.ts'
import { freePort } from './free-port.ts'
import { serve } from './listening.ts'

export interface SeenRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  /** The body read as application/x-www-form-urlencoded. */
  form: Record<string, string>
}

/** `hang` never answers, `drop` closes the connection, `stall` stops in the middle of the body. */
export type Answer =
  | 'hang'
  | 'drop'
  | 'stall'
  | {
      status?: number
      json?: unknown
      text?: string | Buffer
      headers?: Record<string, string>
    }

/** Answers in the given order; the last answer repeats. */
export async function vendorServer(t: Ending, ...answers: [Answer, ...Answer[]]) {
  const seen: SeenRequest[] = []
  let connections = 0
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    const body = await text(request)
    const answer = answers[Math.min(seen.length, answers.length - 1)] ?? answers[0]
    const form = Object.fromEntries(new URLSearchParams(body))
    seen.push({ method, path: url, headers, body, form })
    give(response, answer)
  })
  server.on('connection', () => {
    connections += 1
  })
  const port = await serve(t, server)
  return { url: `http://127.0.0.1:${port}`, port, seen, server, connections: () => connections }
}

function give(response: ServerResponse, answer: Answer): void {
  if (answer === 'hang') return
  if (answer === 'drop') {
    response.destroy()
    return
  }
  if (answer === 'stall') {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"half":')
    return
  }
  const { status = 200, json, text: plain = '', headers = {} } = answer
  if (json === undefined) {
    response.writeHead(status, headers).end(plain)
    return
  }
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(json))
}

/** The address of a server that is not there. */
export async function deadUrl(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`
}
