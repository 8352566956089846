/** A webhook receiver as a process: it records each request, line by line, before it responds. */
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

import { Webhook } from 'standardwebhooks'

const [port, file = '', secret = ''] = process.argv.slice(2)
const verifier = new Webhook(secret)
/** Long enough to kill this process or the sender between two steps. */
const stepMs = 60

const notify = (step: string) => void process.send?.(step)

createServer(async (request, response) => {
  // A sender that is killed in the middle sends no body.
  const body = await text(request).catch(() => undefined)
  if (body === undefined) return
  const { headers } = request
  const named = Object.entries(headers).map(([name, value]) => [name, String(value)])
  verifier.verify(body, Object.fromEntries(named))
  notify('received')
  await pause(stepMs)
  appendFileSync(file, `${JSON.stringify({ id: headers['webhook-id'], body })}\n`)
  notify('written')
  await pause(stepMs)
  response.writeHead(204).end(() => notify('answered'))
}).listen(Number(port), '127.0.0.1', () => notify('listening'))
