/**
 * Text messages: which provider delivers them, what they say, and the numbers with fixed codes.
 * In development they go to the inbox of the development server instead of a provider.
 */
import { randomUUID } from 'node:crypto'

import type { FastifyBaseLogger } from 'fastify'

import { smsSendFailed, unexpectedFailure, validationFailed } from '../errors.ts'
import { createFormClient, type PostForm } from '../sms/form-client.ts'
import { type Channel, SmsError, type SmsMessage, type SmsProvider } from '../sms/provider.ts'
import { renderSms } from '../sms/template.ts'
import { createTestOtps } from '../sms/test-otps.ts'
import { definePlugin } from './define-plugin.ts'
import { chooseProvider, type SmsConfig } from './sms/choose-provider.ts'
import { smsNotices } from './sms/notices.ts'

declare module 'fastify' {
  interface FastifyInstance {
    sms: ReturnType<typeof createSms>
  }
}

/** Takes a message in a provider's place. */
export type Deliver = (message: SmsMessage) => Promise<void>

export interface SmsDeps {
  config: SmsConfig
  fetch: typeof globalThis.fetch
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>
  timeoutMs: number
  deliver?: Deliver | undefined
  retryDelayMs?: number
  onAttempt?: (outcome: 'sent' | 'failed') => void
}

export interface OutgoingSms {
  /** E.164 digits without the plus sign. */
  phone: string
  code: string
  channel: Channel
  /** Ours, as the client is told; ties the log to the provider's id. */
  messageId: string
  /** In the place of AUTH_SMS_TEMPLATE. */
  template?: string
}

export function createSms(deps: SmsDeps) {
  const { config, fetch, log, timeoutMs, deliver, retryDelayMs, onAttempt } = deps
  const post = createFormClient({ fetch, timeoutMs, retryDelayMs: retryDelayMs ?? 1000 })
  const provider = deliver ? toInbox(deliver) : usableProvider(config, post, log)
  const testOtp = createTestOtps({
    codes: config.AUTH_SMS_TEST_OTP,
    validUntil: config.AUTH_SMS_TEST_OTP_VALID_UNTIL,
  })

  return {
    /** Whether messages can be sent at all. */
    enabled: provider !== undefined,

    /** Reads the `channel` of a request; throws validation_failed for one the provider does not have. */
    channelOf(value: string | undefined): Channel {
      if (value === undefined || value === 'sms') return 'sms'
      if (value === 'whatsapp' && provider?.channels.includes(value)) return value
      throw validationFailed(
        "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' needs the SMS provider twilio or twilio_verify.",
      )
    },

    /** Sends a code. Throws sms_send_failed, and unexpected_failure when no provider is configured. */
    async send({ template = config.AUTH_SMS_TEMPLATE, messageId, ...request }: OutgoingSms) {
      if (provider === undefined) throw unexpectedFailure('Unable to get SMS provider')
      const message: SmsMessage = { ...request, text: renderSms(template, request.code) }
      const sent = await provider.send(message).catch((error) => {
        onAttempt?.('failed')
        throw reported(log, error, smsSendFailed)
      })
      onAttempt?.('sent')
      const names = { messageId, provider: provider.name, providerMessageId: sent.messageId }
      log.info(names, 'a text message was accepted')
      return sent
    },

    /**
     * Only with a provider that makes and checks the codes itself: ask it instead of the database.
     * Resolves to false for a wrong or late code; throws unexpected_failure when the provider does not answer.
     */
    verify: provider?.verify && remoteCheck(provider.verify, log),

    /** The fixed code of a number, if it has one at this moment: nothing is sent to it, and it is always right. */
    testOtp,
  }
}

/** The start is refused elsewhere when people may sign in by phone; a forgotten setting alone is no reason. */
function usableProvider(config: SmsConfig, post: PostForm, log: SmsDeps['log']) {
  try {
    return chooseProvider(config, post)
  } catch (error) {
    log.warn({ err: error }, 'text messages cannot be sent')
    return undefined
  }
}

function toInbox(deliver: Deliver): SmsProvider {
  return {
    name: 'development inbox',
    channels: ['sms', 'whatsapp'],
    async send(message) {
      await deliver(message)
      return { messageId: randomUUID() }
    },
  }
}

function remoteCheck(verify: NonNullable<SmsProvider['verify']>, log: SmsDeps['log']) {
  return (phone: string, code: string): Promise<boolean> =>
    verify(phone, code).catch((error) => {
      const failure = (cause: unknown) => unexpectedFailure('Unable to check the code', cause)
      throw reported(log, error, failure)
    })
}

/** Notes the provider's words for the operator and gives the error for the client; other errors stay themselves. */
function reported(log: SmsDeps['log'], error: unknown, answer: (cause: unknown) => Error): unknown {
  if (!(error instanceof SmsError)) return error
  const { provider, detail } = error
  log.warn({ provider, detail }, 'the SMS provider did not do its part')
  return answer(error)
}

export default definePlugin({
  name: 'sms',
  needs: ['config', 'devInbox', 'httpClient', 'log', 'telemetry'],
  create({ config, devInbox, httpClient, log, telemetry }) {
    const deliver = devInbox?.addSms
    for (const notice of smsNotices(config, deliver !== undefined)) log.warn(notice)
    // Ends before the request does, so that the client hears what failed.
    const longestMs = config.AUTH_API_MAX_REQUEST_DURATION * 800
    return createSms({
      config,
      fetch: httpClient.fetch,
      log,
      timeoutMs: Math.min(config.AUTH_INTERNAL_HTTP_TIMEOUT * 1000, longestMs),
      deliver,
      onAttempt: (outcome) => telemetry.metrics.count('postern.text_messages', { outcome }),
    })
  },
})
