/** An operator's web server with templates on it, on a free port. */
import { createServer, type ServerResponse } from 'node:http'

import type { Ending } from '../support/processes/ending.ts'
import { serve } from '../support/processes/listening.ts'

export type Response = (response: ServerResponse) => void

/** `serve` changes later responses. */
export async function startTemplateServer(t: Ending, first: Response | string) {
  const paths: string[] = []
  let reply = first
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    if (typeof reply === 'string') response.end(reply)
    else reply(response)
  })
  const port = await serve(t, server)
  return {
    url: `http://127.0.0.1:${port}`,
    /** Of every request, oldest first. */
    paths,
    serve(next: Response | string) {
      reply = next
    },
  }
}
