/**
 * Hooks: servers or database functions of the operator that are asked, or told, at certain moments. Each is undefined
 * while it is switched off, so that nothing is spent on it. None is ever called inside a transaction.
 */
import type { hookNames } from './config/groups/hooks.ts'
import { definePlugin, type House } from './define-plugin.ts'
import { customizeAccessToken } from './hooks/access-token.ts'
import { createBackground } from './hooks/background.ts'
import { createCaller, type HookCaller } from './hooks/caller.ts'
import { httpTransport, maxAnswerBytes } from './hooks/http.ts'
import { sendEmail, sendSms } from './hooks/messages.ts'
import { createFunctionHooks, type FunctionHooks } from './hooks/postgres.ts'
import type { Transport } from './hooks/transport.ts'
import { unsavedUser } from './hooks/unsaved-user.ts'
import { askForUser, tellOfUser } from './hooks/users.ts'
import { type Attempted, type AttemptedFactor, judgeAttempt } from './hooks/verification.ts'
import { configuredProxies, createHttpClient, type Fetch } from './http-client.ts'

declare module 'fastify' {
  interface FastifyInstance {
    hooks: ReturnType<typeof createHooks>
  }
}

type Name = (typeof hookNames)[number]
type HooksHouse = House<(typeof needs)[number]>

const needs = ['addHook', 'config', 'log', 'pool', 'telemetry'] as const

/** What each hook is called in its metadata. */
const metadataNames: Record<Name, string> = {
  CUSTOM_ACCESS_TOKEN: 'customize-access-token',
  SEND_EMAIL: 'send-email',
  SEND_SMS: 'send-sms',
  MFA_VERIFICATION_ATTEMPT: 'mfa-verification',
  PASSWORD_VERIFICATION_ATTEMPT: 'password-verification',
  BEFORE_USER_CREATED: 'before-user-created',
  AFTER_USER_CREATED: 'after-user-created',
}

/** Named by an operator who means this machine: they need no public address. */
const localHosts = ['localhost', '127.0.0.1', '[::1]', 'host.docker.internal']

function createHooks(house: HooksHouse) {
  const callerOf = createCallers(house)
  const background = createBackground(house.log)
  const when = <Hook>(name: Name, make: (call: HookCaller) => Hook): Hook | undefined => {
    const call = callerOf(name)
    return call && make(call)
  }
  const hooks = {
    customizeAccessToken: when('CUSTOM_ACCESS_TOKEN', customizeAccessToken),
    sendEmail: when('SEND_EMAIL', sendEmail),
    sendSms: when('SEND_SMS', sendSms),
    judgeFactor: when('MFA_VERIFICATION_ATTEMPT', judgeAttempt<AttemptedFactor>),
    judgePassword: when('PASSWORD_VERIFICATION_ATTEMPT', judgeAttempt<Attempted>),
    askForUser: when('BEFORE_USER_CREATED', askForUser),
    tellOfUser: when('AFTER_USER_CREATED', tellOfUser),

    unsavedUser,

    /** Begins what no answer waits for; the process does not end before it has. */
    later: background.run,
  }
  // Added after what its work needs, so that it ends before that does.
  house.addHook('onClose', background.settled)
  return hooks
}

/** A caller for each hook that is switched on. */
function createCallers(house: HooksHouse) {
  const { config, log, telemetry } = house
  const clientOf = once(() => httpFetch(house))
  const functionsOf = once(() => functionHooks(house))
  return (name: Name): HookCaller | undefined => {
    const uri = config[`AUTH_HOOK_${name}_URI`]
    if (!config[`AUTH_HOOK_${name}_ENABLED`] || uri === undefined) return undefined
    const isFunction = new URL(uri).protocol === 'pg-functions:'
    const transport: Transport = isFunction
      ? functionsOf().transport(uri)
      : httpTransport({ url: uri, secrets: config[`AUTH_HOOK_${name}_SECRETS`], fetch: clientOf() })
    return createCaller(metadataNames[name], transport, { log, ...telemetry })
  }
}

/** An address on this machine is asked as it is, every other one by the rules for addresses that somebody names. */
function httpFetch(house: HooksHouse): Fetch {
  const { config, telemetry } = house
  const limits = { maxBytes: maxAnswerBytes, guardMaxBytes: maxAnswerBytes }
  const { noProxy = '', ...proxies } = configuredProxies(config)
  const proxy = { ...proxies, noProxy: [...localHosts, noProxy].join(',') }
  const client = createHttpClient({ dev: config.dev, proxy, ...limits })
  house.addHook('onClose', client.close)
  return telemetry.fetch((input, init) => {
    const { hostname } = new URL(input instanceof Request ? input.url : input)
    return localHosts.includes(hostname)
      ? client.fetch(input, init)
      : client.guardedFetch(input, init)
  })
}

function functionHooks(house: HooksHouse): FunctionHooks {
  const hooks = createFunctionHooks(house.pool.options, house.config.AUTH_DB_PREPARED_STATEMENTS)
  house.addHook('onClose', hooks.close)
  return hooks
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

export default definePlugin({ name: 'hooks', needs, create: createHooks })
