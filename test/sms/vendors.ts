/** Each SMS provider with a server that responds as its vendor. */
import assert from 'node:assert/strict'
import { after, type TestContext } from 'node:test'

import { createHttpClient } from '../../plugins/outgoing/http-client/index.ts'
import { createFormClient, type PostForm } from '../../sms/form-client.ts'
import { messagebird } from '../../sms/messagebird.ts'
import { SmsError, type SmsMessage, type SmsProvider } from '../../sms/provider.ts'
import { textlocal } from '../../sms/textlocal.ts'
import { twilio } from '../../sms/twilio.ts'
import { twilioVerify } from '../../sms/twilio-verify.ts'
import { vonage } from '../../sms/vonage.ts'
import { type VendorResponse, vendorServer } from '../support/vendor-server.ts'

const proxy = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined }
const client = createHttpClient({ dev: false, proxy })
after(client.close)
export const { fetch } = client

export const message: SmsMessage = {
  phone: '15550100200',
  text: 'Ihr Code für A&B: 482910',
  code: '482910',
  channel: 'sms',
}
export const whatsapp: SmsMessage = { ...message, channel: 'whatsapp' }

export type Build = (url: string, post: PostForm) => SmsProvider
export const account = {
  accountSid: 'AC 1/2',
  authToken: 'tok:en',
  sender: 'MG123',
  contentSid: undefined,
}
export const build = {
  twilio: (url, post) => twilio({ ...account, url }, post),
  twilio_verify: (url, post) => twilioVerify({ ...account, url, sender: 'VA1' }, post),
  messagebird: (url, post) => messagebird({ url, accessKey: 'live_k', originator: 'Acme' }, post),
  textlocal: (url, post) => textlocal({ url, apiKey: 'k', sender: 'ACME' }, post),
  vonage: (url, post) => vonage({ url, apiKey: 'k', apiSecret: 's', from: 'Acme' }, post),
} satisfies Record<string, Build>

export const accepted: Record<keyof typeof build, VendorResponse> = {
  twilio: { status: 201, json: { sid: 'SM1', status: 'queued', error_message: null } },
  twilio_verify: { status: 201, json: { sid: 'VE1', status: 'pending', valid: false } },
  messagebird: { status: 201, json: { id: 'mb1', recipients: { totalSentCount: 1 } } },
  textlocal: { json: { status: 'success', messages: [{ id: '77', recipient: 15550100200 }] } },
  vonage: { json: { 'message-count': '1', messages: [{ status: '0', 'message-id': 'v1' }] } },
}
export const names = Object.keys(build) as (keyof typeof build)[]

/** A provider, and its server with these responses. */
export async function provider(
  t: TestContext,
  make: Build,
  ...responses: [VendorResponse, ...VendorResponse[]]
) {
  const vendor = await vendorServer(t, ...responses)
  // Long enough for a busy machine.
  const isSilent = responses.some((response) => response === 'hang' || response === 'stall')
  return { vendor, provider: make(vendor.url, poster(isSilent ? 1000 : 30_000)) }
}

/** Posts as the server does, with a time limit. */
export function poster(timeoutMs: number): PostForm {
  return createFormClient({ fetch, timeoutMs, retryDelayMs: 5 })
}

/** Of the account at Twilio. */
export const basic = `Basic ${Buffer.from('AC 1/2:tok:en').toString('base64')}`

/** For assert.rejects: the provider failed, with this reason. */
export function rejectsFor(name: string, detail: RegExp, mayBeSent?: boolean) {
  return (error: unknown) => {
    assert.ok(error instanceof SmsError)
    assert.equal(error.provider, name)
    assert.match(error.detail, detail)
    if (mayBeSent !== undefined) assert.equal(error.mayBeSent, mayBeSent)
    return true
  }
}
