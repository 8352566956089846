/**
 * Hooks: the operator's HTTP endpoints or database functions, called at defined points. A disabled hook is undefined
 * and costs nothing. None is called inside a transaction.
 */
import type { FastifyBaseLogger } from 'fastify'

import type { hookNames } from '../../../config/groups/hooks.ts'
import type { User } from '../../../schemas/user.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { configuredProxies, createHttpClient, type Fetch } from '../http-client/index.ts'
import { createCaller, type HookCaller, type HookResponse, type Transport } from './caller.ts'
import {
  beforeOrganizationJoin,
  createSmsSender,
  customizeAccessToken,
  sendEmail,
} from './calls.ts'
import { httpTransport, maxResponseBytes } from './http.ts'
import { createFunctionHooks, type FunctionHooks } from './postgres.ts'

/** A user without a row: not created yet, or deleted. */
interface UnsavedUser {
  id: string
  aud: string
  email?: string
  phone?: string
  app_metadata?: Record<string, unknown>
  user_metadata?: Record<string, unknown>
  is_anonymous?: boolean
}

/** The zero time that GoTrue sends. */
const zeroTime = '0001-01-01T00:00:00Z'

/** The hook payload of a user without a row: no role, identities or times. */
function unsavedUser({ id, aud, ...known }: UnsavedUser): User {
  return {
    id,
    aud,
    role: '',
    email: known.email ?? '',
    phone: known.phone ?? '',
    app_metadata: known.app_metadata ?? {},
    user_metadata: known.user_metadata ?? {},
    identities: [],
    created_at: zeroTime,
    updated_at: zeroTime,
    is_anonymous: known.is_anonymous ?? false,
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    hooks: ReturnType<typeof createHooks>
  }
}

type Name = (typeof hookNames)[number]
type HooksDeps = Deps<(typeof deps)[number]>

const deps = ['addHook', 'config', 'log', 'pool', 'telemetry'] as const

/** The hook names in payload metadata. */
const metadataNames: Record<Name, string> = {
  CUSTOM_ACCESS_TOKEN: 'customize-access-token',
  SEND_EMAIL: 'send-email',
  SEND_SMS: 'send-sms',
  MFA_VERIFICATION_ATTEMPT: 'mfa-verification',
  PASSWORD_VERIFICATION_ATTEMPT: 'password-verification',
  BEFORE_USER_CREATED: 'before-user-created',
  AFTER_USER_CREATED: 'after-user-created',
  BEFORE_ORGANIZATION_JOIN: 'before-organization-join',
}

/** Hosts that mean this machine, which need no public address. */
const localHosts = ['localhost', '127.0.0.1', '[::1]', 'host.docker.internal']

function createHooks(deps: HooksDeps) {
  const getCaller = createCallers(deps)
  const background = createBackground(deps.log)
  const when = <Hook>(name: Name, make: (call: HookCaller) => Hook): Hook | undefined => {
    const call = getCaller(name)
    return call && make(call)
  }
  const hooks = {
    customizeAccessToken: when('CUSTOM_ACCESS_TOKEN', customizeAccessToken),
    sendEmail: when('SEND_EMAIL', sendEmail),
    sendSms: when('SEND_SMS', createSmsSender),
    mfaVerificationAttempt: when('MFA_VERIFICATION_ATTEMPT', callVerificationHook<AttemptedFactor>),
    passwordVerificationAttempt: when(
      'PASSWORD_VERIFICATION_ATTEMPT',
      callVerificationHook<HookAttempt>,
    ),
    beforeUserCreated: when('BEFORE_USER_CREATED', beforeUserCreated),
    afterUserCreated: when('AFTER_USER_CREATED', afterUserCreated),
    beforeOrganizationJoin: when('BEFORE_ORGANIZATION_JOIN', beforeOrganizationJoin),

    unsavedUser,

    /** All hooks and where they are called. */
    describe: () => hookSummaries(deps.config),

    /** Starts work that no response waits for; shutdown waits for it. */
    later: background.run,
  }
  // Registered after the dependencies of the work, so that it ends before they close.
  deps.addHook('onClose', background.settled)
  return hooks
}

function hookSummaries(config: HooksDeps['config']) {
  return Object.entries(metadataNames).map(([key, name]) => {
    const variable = key as Name
    const secrets = config[`AUTH_HOOK_${variable}_SECRETS`]
    return {
      name,
      enabled: config[`AUTH_HOOK_${variable}_ENABLED`],
      uri: config[`AUTH_HOOK_${variable}_URI`] ?? null,
      has_secret: (secrets?.length ?? 0) > 0,
    }
  })
}

/** A caller for each enabled hook. */
function createCallers(deps: HooksDeps) {
  const { config, log, telemetry } = deps
  const getFetch = once(() => httpFetch(deps))
  const getFunctions = once(() => functionHooks(deps))
  return (name: Name): HookCaller | undefined => {
    const uri = config[`AUTH_HOOK_${name}_URI`]
    if (!config[`AUTH_HOOK_${name}_ENABLED`] || uri === undefined) return undefined
    const isFunction = new URL(uri).protocol === 'pg-functions:'
    const transport: Transport = isFunction
      ? getFunctions().transport(uri)
      : httpTransport({ url: uri, secrets: config[`AUTH_HOOK_${name}_SECRETS`], fetch: getFetch() })
    return createCaller(metadataNames[name], transport, { log, ...telemetry })
  }
}

/** A local address is called directly, every other one under the SSRF guard. */
function httpFetch(deps: HooksDeps): Fetch {
  const { config, telemetry } = deps
  const limits = { maxBytes: maxResponseBytes, guardMaxBytes: maxResponseBytes }
  const { noProxy = '', ...proxies } = configuredProxies(config)
  const proxy = { ...proxies, noProxy: [...localHosts, noProxy].join(',') }
  const client = createHttpClient({ dev: config.dev, proxy, ...limits })
  deps.addHook('onClose', client.close)
  return telemetry.fetch((input, init) => {
    const { hostname } = new URL(input instanceof Request ? input.url : input)
    return localHosts.includes(hostname)
      ? client.fetch(input, init)
      : client.guardedFetch(input, init)
  })
}

function functionHooks(deps: HooksDeps): FunctionHooks {
  const hooks = createFunctionHooks(deps.pool.options, deps.config.AUTH_DB_PREPARED_STATEMENTS)
  deps.addHook('onClose', hooks.close)
  return hooks
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

export default definePlugin({ name: 'hooks', deps, create: createHooks })

/** Hook work that no response waits for. */
function createBackground(log: Pick<FastifyBaseLogger, 'warn'>) {
  const running = new Set<Promise<void>>()

  return {
    /** Starts the work; a failure is logged. */
    run(work: () => Promise<unknown>): void {
      const done = work().then(
        () => undefined,
        (error) => log.warn({ err: error }, 'hook call failed'),
      )
      const ended = done.finally(() => running.delete(ended))
      running.add(ended)
    },

    /** Resolves when all started work has ended. */
    async settled(): Promise<void> {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

// BEFORE_USER_CREATED and AFTER_USER_CREATED.

/** Calls the hook that decides whether the user may be created. Throws HookError when not. */
function beforeUserCreated(call: HookCaller) {
  return async (user: UnsavedUser, ip: string): Promise<void> => {
    await call({ user: unsavedUser(user) }, { ip })
  }
}

/** Reports a created user; `uuid` is the same for every attempt. Throws HookError. */
function afterUserCreated(call: HookCaller) {
  return async (user: User, told: { ip: string; uuid: string }): Promise<void> => {
    await call({ user }, told)
  }
}

// PASSWORD_VERIFICATION_ATTEMPT and MFA_VERIFICATION_ATTEMPT: the operator's decision about a verified attempt.

interface HookAttempt {
  user_id: string
  /** Whether the attempt was correct. */
  valid: boolean
}

interface AttemptedFactor extends HookAttempt {
  factor_id: string
  factor_type: string
}

interface HookDecision {
  isRejected: boolean
  /** For the client; undefined when the hook sends none. */
  message: string | undefined
  /** The hook requests that all sessions of the user be revoked. Only the password hook can. */
  endSessions: boolean
}

/** Throws HookError. */
function callVerificationHook<Attempt extends HookAttempt>(call: HookCaller) {
  return async (attempt: Attempt, ip: string): Promise<HookDecision> =>
    toDecision(await call(attempt, { ip }))
}

function toDecision({ decision, message, should_logout_user }: HookResponse): HookDecision {
  return {
    isRejected: decision === 'reject',
    message: typeof message === 'string' && message !== '' ? message : undefined,
    endSessions: should_logout_user === true,
  }
}
