/** An operator's web server with templates on it, on a free port. */
import { createServer, type ServerResponse } from 'node:http'

import type { Ending } from '../support/ending.ts'
import { serve } from '../support/listening.ts'

export type Answer = (response: ServerResponse) => void

/** `serve` may be called again, to change what is answered from then on. */
export async function startTemplateServer(t: Ending, first: Answer | string) {
  const paths: string[] = []
  let answer = first
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    if (typeof answer === 'string') response.end(answer)
    else answer(response)
  })
  const port = await serve(t, server)
  return {
    url: `http://127.0.0.1:${port}`,
    /** Of every request, oldest first. */
    paths,
    serve(next: Answer | string) {
      answer = next
    },
  }
}
