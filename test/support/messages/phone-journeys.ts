/** Servers that send SMS, and their codes. */
import assert from 'node:assert/strict'

import { type Ending, endingOfSuite } from '../processes/ending.ts'
import { type BuildOptions, build } from '../server.ts'
import { startSmsServer } from './sms-server.ts'

export type PhoneServer = Awaited<ReturnType<typeof buildWithSms>>

/** A server that sends its SMS messages to a provider on this machine, without waits between them. */
export async function buildWithSms(t: Ending, { env, ...options }: BuildOptions = {}) {
  const sms = await startSmsServer()
  t.after(sms.stop)
  return { ...(await build(t, { ...options, env: { ...sms.env, ...env } })), sms }
}

/** One server for all tests of a suite: called in the suite, its result in the tests. */
export function sharedSmsServer(options: BuildOptions = {}) {
  let server: Promise<PhoneServer> | undefined
  const ending = endingOfSuite()
  return () => {
    server ??= buildWithSms(ending, options)
    return server
  }
}

/** Does what sends a message and returns its code. */
export async function codeAfter(
  { sms }: PhoneServer,
  phone: string,
  act: () => PromiseLike<{ statusCode: number; body: string }>,
): Promise<string> {
  const since = sms.messages.length
  const response = await act()
  assert.equal(response.statusCode, 200, response.body)
  return sms.code(phone, since)
}
