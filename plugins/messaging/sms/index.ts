/**
 * SMS messages: providers, texts and fixed test codes. In development messages go to the inbox of the development
 * server instead.
 */
import { randomUUID } from 'node:crypto'

import type { FastifyBaseLogger } from 'fastify'

import {
  ApiError,
  smsSendFailed,
  unexpectedFailure,
  validationFailed,
} from '../../../schemas/errors.ts'
import { createFormClient, type PostForm } from '../../../sms/form-client.ts'
import {
  type OtpChannel,
  SmsError,
  type SmsMessage,
  type SmsProvider,
} from '../../../sms/provider.ts'
import { renderSms } from '../../../sms/template.ts'
import { createTestOtps } from '../../../sms/test-otps.ts'
import { definePlugin } from '../../define-plugin.ts'
import { maxWaitMs } from '../../http/request-deadline.ts'
import type { Languages } from '../../localization/languages/index.ts'
import { createSmsHook } from './by-hook.ts'
import { chooseProvider, type SmsConfig } from './choose-provider.ts'
import { smsNotices } from './notices.ts'
import { templateFor } from './template-for.ts'
import type { OutgoingSms, SendByHook } from './types.ts'

declare module 'fastify' {
  interface FastifyInstance {
    sms: ReturnType<typeof createSms>
  }
}

/** Delivers a message in place of a provider. */
export type DeliverSms = (message: SmsMessage) => Promise<void>

interface SmsDeps {
  config: SmsConfig
  fetch: typeof globalThis.fetch
  languages: Pick<Languages, 'messagesFor' | 'tagFor'>
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>
  timeoutMs: number
  deliver?: DeliverSms | undefined
  /** The operator's hook, which replaces every provider. */
  byHook?: SendByHook | undefined
  retryDelayMs?: number
  onAttempt?: (outcome: 'sent' | 'failed') => void
}

export function createSms(deps: SmsDeps) {
  const { config, fetch, log, timeoutMs, deliver, byHook, retryDelayMs, onAttempt } = deps
  const post = createFormClient({ fetch, timeoutMs, retryDelayMs: retryDelayMs ?? 1000 })
  const provider = byHook ? undefined : createProvider(config, post, log, deliver)
  const testOtp = createTestOtps({
    codes: config.AUTH_SMS_TEST_OTP,
    validUntil: config.AUTH_SMS_TEST_OTP_VALID_UNTIL,
  })

  return {
    /** Whether messages can be sent at all. */
    enabled: byHook !== undefined || provider !== undefined,

    /**
     * Reads the `channel` of a request; throws validation_failed for one the provider lacks. The hook does not receive
     * it, so any is accepted with a hook.
     */
    parseChannel(value: string | undefined): OtpChannel {
      if (!value || value === 'sms' || byHook) return 'sms'
      if (value === 'whatsapp' && provider?.channels.includes(value)) return value
      throw validationFailed(
        "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' needs the SMS provider twilio or twilio_verify.",
      )
    },

    /** Sends a code. Throws sms_send_failed or HookError, and unexpected_failure when no provider is configured. */
    async send(outgoing: OutgoingSms): Promise<void> {
      const { messageId } = outgoing
      const sent = await handOver(deps, provider, outgoing).catch((error) => {
        onAttempt?.('failed')
        throw reported(log, error, smsSendFailed)
      })
      onAttempt?.('sent')
      log.info({ message_id: messageId, ...sent }, 'SMS sent')
    },

    /** Whether an error of `send` means that no message was sent. */
    isUnsent: (error: unknown): boolean =>
      error instanceof ApiError && error.cause instanceof SmsError && !error.cause.mayBeSent,

    /**
     * Set for a provider that creates and checks codes itself. Resolves to false for a wrong or expired code; throws
     * unexpected_failure when the provider does not respond.
     */
    verify: provider?.verify && remoteCheck(provider.verify, log),

    /** The fixed code of a number, if it has a valid one: nothing is sent to that number. */
    testOtp,
  }
}

/** Returns the name of the receiving service, for the log. */
async function handOver(
  { config, languages, byHook }: SmsDeps,
  provider: SmsProvider | undefined,
  outgoing: OutgoingSms,
) {
  if (byHook) {
    await byHook(outgoing)
    return { provider: 'hook' }
  }
  if (provider === undefined) throw unexpectedFailure('Unable to get SMS provider')
  const { phone, code, channel, reader, isFactor } = outgoing
  const variable = isFactor ? 'AUTH_MFA_PHONE_TEMPLATE' : 'AUTH_SMS_TEMPLATE'
  const text = renderSms(templateFor(config, languages, variable, reader ?? {}), code)
  const sent = await provider.send({ phone, code, channel, text })
  return { provider: provider.name, provider_message_id: sent.messageId }
}

function createProvider(
  config: SmsConfig,
  post: PostForm,
  log: SmsDeps['log'],
  deliver: DeliverSms | undefined,
) {
  return deliver ? toInbox(deliver) : usableProvider(config, post, log)
}

/** An incomplete provider alone does not stop the start; other rules do so where phone codes are required. */
function usableProvider(config: SmsConfig, post: PostForm, log: SmsDeps['log']) {
  try {
    return chooseProvider(config, post)
  } catch (error) {
    log.warn({ err: error }, 'SMS cannot be sent')
    return undefined
  }
}

function toInbox(deliver: DeliverSms): SmsProvider {
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

/** Logs the provider's response and returns the error for the client; other errors are returned unchanged. */
function reported(
  log: SmsDeps['log'],
  error: unknown,
  toClientError: (cause: unknown) => Error,
): unknown {
  if (!(error instanceof SmsError)) return error
  const { provider, detail } = error
  log.warn({ provider, detail }, 'SMS provider error')
  return toClientError(error)
}

export default definePlugin({
  name: 'sms',
  deps: ['config', 'db', 'devInbox', 'hooks', 'httpClient', 'languages', 'log', 'telemetry'],
  create(deps) {
    const { config, devInbox, hooks, httpClient, languages, log, telemetry } = deps
    const deliver = devInbox?.addSms
    const canSend = deliver !== undefined || hooks.sendSms !== undefined
    for (const notice of smsNotices(config, canSend)) log.warn(notice)
    return createSms({
      config,
      fetch: httpClient.fetch,
      languages,
      log,
      timeoutMs: Math.min(config.AUTH_INTERNAL_HTTP_TIMEOUT * 1000, maxWaitMs(config)),
      deliver,
      byHook: createSmsHook(deps),
      onAttempt: (outcome) => telemetry.metrics.count('postern.sms', { outcome }),
    })
  },
})
