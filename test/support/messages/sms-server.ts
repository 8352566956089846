/** A local SMS provider with Twilio’s API that stores each message. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

import { listen } from '../processes/listening.ts'
import { until } from '../processes/until.ts'

interface ReceivedText {
  /** In the provider’s form: `+15550100200`, or `whatsapp:+15550100200`. */
  to: string
  body: string
}

export async function startSmsServer() {
  const messages: ReceivedText[] = []
  const state = { rejects: false, delayMs: 0, respondsAfter: Promise.resolve() }
  const server = createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request))
    if (state.delayMs > 0) await sleep(state.delayMs)
    await state.respondsAfter
    response.setHeader('content-type', 'application/json')
    if (state.rejects) {
      const message = `The number ${form.get('To')} cannot get "${form.get('Body')}"`
      return response.writeHead(400).end(JSON.stringify({ message, status: 400 }))
    }
    messages.push({ to: form.get('To') ?? '', body: form.get('Body') ?? '' })
    response.writeHead(201).end(JSON.stringify({ sid: `SM${messages.length}`, status: 'queued' }))
  })
  const port = await listen(server)

  return {
    messages,
    state,
    env: {
      AUTH_EXTERNAL_PHONE_ENABLED: 'true',
      AUTH_SMS_PROVIDER: 'twilio',
      AUTH_SMS_TWILIO_ACCOUNT_SID: 'AC1',
      AUTH_SMS_TWILIO_AUTH_TOKEN: 'secret',
      AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID: 'MG1',
      AUTH_SMS_TWILIO_URL: `http://127.0.0.1:${port}`,
      AUTH_SMS_MAX_FREQUENCY: '0',
      AUTH_RATE_LIMIT_SMS_SENT: '100000',
    },
    /** The code of the last message to the number, after `since`. */
    async code(phone: string, since = 0): Promise<string> {
      const found = await until(
        () => messages.slice(since).findLast(({ to }) => to.endsWith(`+${phone}`)),
        { everyMs: 10, missing: 'no message came' },
      )
      return /\d{6,10}/.exec(found.body)?.[0] ?? assert.fail('no code in the message')
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
