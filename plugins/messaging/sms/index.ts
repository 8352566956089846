/**
 * SMS messages: providers, texts and fixed test codes. In development messages go to the inbox of the development
 * server instead.
 */
import { randomUUID } from 'node:crypto'

import type { FastifyBaseLogger } from 'fastify'

import type { Config } from '../../../config/groups/index.ts'
import { findUserByPhone } from '../../../db/users/users.ts'
import {
  ApiError,
  smsSendFailed,
  unexpectedFailure,
  validationFailed,
} from '../../../schemas/errors.ts'
import { toUser } from '../../../schemas/user.ts'
import { createFormClient, type PostForm } from '../../../sms/form-client.ts'
import {
  type OtpChannel,
  SmsError,
  type SmsMessage,
  type SmsProvider,
} from '../../../sms/provider.ts'
import { hasCode, renderSms } from '../../../sms/template.ts'
import { createTestOtps } from '../../../sms/test-otps.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { maxWaitMs } from '../../http/request-deadline.ts'
import type { Languages } from '../../localization/languages/index.ts'
import { chooseProvider, type SmsConfig } from './choose-provider.ts'
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

/** The custom template for all languages; when unset, the text in the recipient's language. */
function templateFor(
  config: SmsConfig,
  { messagesFor, tagFor }: Pick<Languages, 'messagesFor' | 'tagFor'>,
  variable: 'AUTH_SMS_TEMPLATE' | 'AUTH_MFA_PHONE_TEMPLATE',
  reader: Readonly<Record<string, unknown>>,
): string {
  if (config.given.has(variable)) return config[variable]
  return messagesFor(tagFor(reader)).texts.text_messages.code
}

/** The SEND_SMS hook; undefined when it is disabled. It receives the code, not the text or channel. */
function createSmsHook({
  config,
  db,
  hooks,
}: Deps<'config' | 'db' | 'hooks'>): SendByHook | undefined {
  const { sendSms, unsavedUser } = hooks
  if (!sendSms) return undefined
  /** A user for the payload, with metadata of the sign-up such as the language. */
  function newUser(phone: string, aud: string, reader: OutgoingSms['reader']) {
    const app_metadata = { provider: 'phone', providers: ['phone'] }
    const id = crypto.randomUUID()
    return unsavedUser({ id, aud, phone, app_metadata, user_metadata: { ...reader } })
  }

  return async ({ phone, code, messageId, isFactor, aud = config.AUTH_JWT_AUD, ...known }) => {
    const existing = known.user ?? (await findUserByPhone(db, phone, aud))
    const user = existing ? toUser(existing) : newUser(phone, aud, known.reader)
    const sms = { otp: code, phone, ...(isFactor && { sms_type: 'mfa' as const }) }
    await sendSms({ user, uuid: messageId }, sms)
  }
}

/** Warnings at start about SMS settings that are valid but rarely intended. */
export function smsNotices(config: Config, canSend: boolean): string[] {
  const notices: string[] = []
  const testNumbers = Object.keys(config.AUTH_SMS_TEST_OTP).length
  const until = config.AUTH_SMS_TEST_OTP_VALID_UNTIL?.toISOString() ?? 'this setting is removed'
  if (testNumbers > 0) {
    notices.push(
      `AUTH_SMS_TEST_OTP: ${testNumbers} number(s) sign in with a fixed code until ${until}`,
    )
  }
  for (const variable of ['AUTH_SMS_TEMPLATE', 'AUTH_MFA_PHONE_TEMPLATE'] as const) {
    if (hasCode(config[variable])) continue
    notices.push(`${variable} has no {{ .Code }}: messages will not contain the code`)
  }
  if (!canSend && lacksProvider(config)) {
    notices.push(
      'AUTH_EXTERNAL_PHONE_ENABLED: no message can be sent until AUTH_SMS_PROVIDER is set',
    )
  }
  return notices
}

/** Without phone confirmation, or with fixed codes only, no provider is needed. */
function lacksProvider(config: Config): boolean {
  const { AUTH_SMS_PROVIDER: provider, AUTH_SMS_TEST_OTP: fixed } = config
  if (!config.AUTH_EXTERNAL_PHONE_ENABLED || config.AUTH_SMS_AUTOCONFIRM) return false
  return provider === undefined && Object.keys(fixed).length === 0
}
