/** A loopback server in place of a vendor: records requests and sends responses from a list. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

import type { Ending } from './processes/ending.ts'
import { freePort } from './processes/free-port.ts'
import { serve } from './processes/listening.ts'

export interface SeenRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  /** The body parsed as application/x-www-form-urlencoded. */
  form: Record<string, string>
}

/** `hang` never responds, `drop` closes the connection, `stall` stops within the body. */
export type VendorResponse =
  | 'hang'
  | 'drop'
  | 'stall'
  | {
      status?: number
      json?: unknown
      text?: string | Buffer
      headers?: Record<string, string>
    }

type VendorResponses = [VendorResponse, ...VendorResponse[]]

/** Responds in the given order; the last response repeats. `restart` forgets the requests, and sets other responses. */
export async function vendorServer(t: Ending, ...first: VendorResponses) {
  let responses = first
  const seen: SeenRequest[] = []
  let connections = 0
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    const body = await text(request)
    const reply = responses[Math.min(seen.length, responses.length - 1)] ?? responses[0]
    const form = Object.fromEntries(new URLSearchParams(body))
    seen.push({ method, path: url, headers, body, form })
    give(response, reply)
  })
  server.on('connection', () => {
    connections += 1
  })
  const port = await serve(t, server)
  function restart(...others: VendorResponses): void {
    responses = others
    seen.length = 0
  }

  const url = `http://127.0.0.1:${port}`
  return { url, port, seen, server, restart, connections: () => connections }
}

function give(response: ServerResponse, reply: VendorResponse): void {
  if (reply === 'hang') return
  if (reply === 'drop') {
    response.destroy()
    return
  }
  if (reply === 'stall') {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"half":')
    return
  }
  const { status = 200, json, text: plain = '', headers = {} } = reply
  if (json === undefined) {
    response.writeHead(status, headers).end(plain)
    return
  }
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(json))
}

/** The address of a server that does not exist. */
export async function deadUrl(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`
}
