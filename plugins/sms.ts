/**
 * Text messages: which provider delivers them, what they say, and the numbers with fixed codes.
 * In development they go to the inbox of the development server instead of a provider.
 */
import { randomUUID } from 'node:crypto'

import type { FastifyBaseLogger } from 'fastify'

import type { UserRecord } from '../db/users.ts'
import { ApiError, smsSendFailed, unexpectedFailure, validationFailed } from '../errors.ts'
import { createFormClient, type PostForm } from '../sms/form-client.ts'
import { type Channel, SmsError, type SmsMessage, type SmsProvider } from '../sms/provider.ts'
import { renderSms } from '../sms/template.ts'
import { createTestOtps } from '../sms/test-otps.ts'
import { definePlugin } from './define-plugin.ts'
import type { Languages } from './languages.ts'
import { longestWaitMs } from './request-duration.ts'
import { createSmsHook } from './sms/by-hook.ts'
import { chooseProvider, type SmsConfig } from './sms/choose-provider.ts'
import { smsNotices } from './sms/notices.ts'
import { templateFor } from './sms/template-for.ts'

declare module 'fastify' {
  interface FastifyInstance {
    sms: ReturnType<typeof createSms>
  }
}

/** Hands a code to the operator's hook. Throws HookError. */
export type SendByHook = (sms: OutgoingSms) => Promise<void>

/** Takes a message in a provider's place. */
export type Deliver = (message: SmsMessage) => Promise<void>

export interface SmsDeps {
  config: SmsConfig
  fetch: typeof globalThis.fetch
  languages: Pick<Languages, 'speech' | 'tagFor'>
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>
  timeoutMs: number
  deliver?: Deliver | undefined
  /** The operator's hook, in the place of every provider. */
  byHook?: SendByHook | undefined
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
  /** Whose code it is, where that is known. */
  person?: UserRecord | undefined
  /** Whose accounts are looked at for somebody who is not known; the default audience when absent. */
  aud?: string | undefined
  /** The user_metadata of whoever gets it, where that is known: their language. */
  reader?: Readonly<Record<string, unknown>> | null | undefined
  /** It proves a second factor. */
  isFactor?: boolean
}

export function createSms(deps: SmsDeps) {
  const { config, fetch, languages, log, timeoutMs, deliver, byHook, retryDelayMs, onAttempt } =
    deps
  const post = createFormClient({ fetch, timeoutMs, retryDelayMs: retryDelayMs ?? 1000 })
  const provider = byHook ? undefined : providerOf(config, post, log, deliver)
  const testOtp = createTestOtps({
    codes: config.AUTH_SMS_TEST_OTP,
    validUntil: config.AUTH_SMS_TEST_OTP_VALID_UNTIL,
  })

  /** Who took it, for the log. */
  async function handOver(outgoing: OutgoingSms) {
    if (byHook) {
      await byHook(outgoing)
      return { provider: 'hook' }
    }
    if (provider === undefined) throw unexpectedFailure('Unable to get SMS provider')
    const { template = config.AUTH_SMS_TEMPLATE, phone, code, channel, reader } = outgoing
    const text = renderSms(templateFor(languages, template, reader ?? {}), code)
    const sent = await provider.send({ phone, code, channel, text })
    return { provider: provider.name, providerMessageId: sent.messageId }
  }

  return {
    /** Whether messages can be sent at all. */
    enabled: byHook !== undefined || provider !== undefined,

    /** Reads the `channel` of a request; throws validation_failed for one the provider does not have. */
    channelOf(value: string | undefined): Channel {
      if (!value || value === 'sms') return 'sms'
      if (value === 'whatsapp' && (byHook || provider?.channels.includes(value))) return value
      throw validationFailed(
        "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' needs the SMS provider twilio or twilio_verify.",
      )
    },

    /** Sends a code. Throws sms_send_failed or HookError, and unexpected_failure when no provider is configured. */
    async send(outgoing: OutgoingSms): Promise<void> {
      const { messageId } = outgoing
      const sent = await handOver(outgoing).catch((error) => {
        onAttempt?.('failed')
        throw reported(log, error, smsSendFailed)
      })
      onAttempt?.('sent')
      log.info({ messageId, ...sent }, 'a text message was accepted')
    },

    /** Whether an error of `send` says for certain that nothing was sent. */
    isUnsent: (error: unknown): boolean =>
      error instanceof ApiError && error.cause instanceof SmsError && !error.cause.mayBeSent,

    /**
     * Only with a provider that makes and checks the codes itself: ask it instead of the database.
     * Resolves to false for a wrong or late code; throws unexpected_failure when the provider does not answer.
     */
    verify: provider?.verify && remoteCheck(provider.verify, log),

    /** The fixed code of a number, if it has one at this moment: nothing is sent to it, and it is always right. */
    testOtp,
  }
}

function providerOf(
  config: SmsConfig,
  post: PostForm,
  log: SmsDeps['log'],
  deliver: Deliver | undefined,
) {
  return deliver ? toInbox(deliver) : usableProvider(config, post, log)
}

/** The start is refused elsewhere where codes are to be sent to phones; a forgotten setting alone is no reason. */
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
  needs: ['config', 'db', 'devInbox', 'hooks', 'httpClient', 'languages', 'log', 'telemetry'],
  create(house) {
    const { config, devInbox, hooks, httpClient, languages, log, telemetry } = house
    const deliver = devInbox?.addSms
    const canSend = deliver !== undefined || hooks.sendSms !== undefined
    for (const notice of smsNotices(config, canSend)) log.warn(notice)
    return createSms({
      config,
      fetch: httpClient.fetch,
      languages,
      log,
      timeoutMs: Math.min(config.AUTH_INTERNAL_HTTP_TIMEOUT * 1000, longestWaitMs(config)),
      deliver,
      byHook: createSmsHook(house),
      onAttempt: (outcome) => telemetry.metrics.count('postern.text_messages', { outcome }),
    })
  },
})
