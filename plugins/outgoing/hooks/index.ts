/**
 * Hooks: the operator's HTTP endpoints or database functions, called at defined points. A disabled hook is undefined
 * and costs nothing. None is called inside a transaction.
 */
import type { hookNames } from '../../../config/groups/hooks.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { configuredProxies, createHttpClient, type Fetch } from '../http-client/index.ts'
import { customizeAccessToken } from './access-token.ts'
import { createBackground } from './background.ts'
import { createCaller, type HookCaller } from './caller.ts'
import { httpTransport, maxResponseBytes } from './http.ts'
import { createSmsSender, sendEmail } from './messages.ts'
import { beforeOrganizationJoin } from './organizations.ts'
import { createFunctionHooks, type FunctionHooks } from './postgres.ts'
import type { Transport } from './transport.ts'
import { unsavedUser } from './unsaved-user.ts'
import { afterUserCreated, beforeUserCreated } from './users.ts'
import { type AttemptedFactor, callVerificationHook, type HookAttempt } from './verification.ts'

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
