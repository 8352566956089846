/** Device authorization grant (RFC 8628): the codes, the decision of the user, and the polls of the device. */
import { randomInt } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import {
  approveDevice,
  type DeviceCode,
  deleteDevice,
  denyDevice,
  findDeviceUser,
  insertDeviceCode,
  lockDevice,
  lockDeviceByUserCode,
  recordPoll,
} from '../../db/oauth-server/devices.ts'
import { findApprovingFactor } from '../../db/oauth-server/sessions.ts'
import { isBanned, type UserRecord } from '../../db/users/users.ts'
import {
  ApiError,
  devicePending,
  invalidGrant,
  invalidScope,
  invalidTarget,
  oauthAccessDenied,
  oauthInvalidRequest,
  unauthorizedClient,
} from '../../schemas/errors.ts'
import { deviceGrant } from '../../schemas/oauth/client.ts'
import { recordAudit } from '../audit/index.ts'
import { lockAndLoadUser } from '../users/index.ts'
import { type Client, hashClientSecret, makeSecret } from './clients/client.ts'
import { getClient } from './clients/manage.ts'
import { type Answering, storeConsent } from './requests/answer.ts'
import { readResources, readScope } from './requests/scope.ts'
import { AuthorizationError } from './requests/sent.ts'
import {
  approvalIsOver,
  issueTokens,
  type OpenedGrant,
  type Origin,
  openClientSession,
  type TokenResponse,
} from './tokens/issue.ts'

interface DeviceCodes {
  deviceCode: string
  /** As displayed. */
  userCode: string
}

/** Seconds. */
export const deviceSeconds = 600
export const pollSeconds = 5

/** Consonants that do not look alike, so that codes spell no words (RFC 8628 §6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const codeLength = 8
const maxTries = 5

/** Throws unauthorized_client, invalid_scope or invalid_target. */
export async function createDeviceCode(
  app: FastifyInstance,
  client: Client,
  requested: { scope: string | undefined; resources: readonly string[] },
  now: Date,
): Promise<DeviceCodes> {
  if (!client.grantTypes.includes(deviceGrant)) {
    throw unauthorizedClient(`This client is not registered for the grant type ${deviceGrant}`)
  }
  const { scope, resources } = readRequested(app, client, requested)
  const deviceCode = makeSecret()
  const stored = {
    id: hashClientSecret(deviceCode),
    client_id: client.id,
    scope,
    resources,
    interval_seconds: pollSeconds,
    expires_at: new Date(now.getTime() + deviceSeconds * 1000),
  }
  for (let attempt = 1; attempt <= maxTries; attempt++) {
    const user_code = makeUserCode()
    if (await insertDeviceCode(app.db, { ...stored, user_code }, now)) {
      return { deviceCode, userCode: `${user_code.slice(0, 4)}-${user_code.slice(4)}` }
    }
  }
  throw new Error('no user code is free')
}

function readRequested(
  app: FastifyInstance,
  client: Client,
  { scope, resources }: { scope: string | undefined; resources: readonly string[] },
) {
  try {
    return {
      scope: readScope(app, client, scope),
      resources: readResources(app, client, resources),
    }
  } catch (error) {
    if (!(error instanceof AuthorizationError)) throw error
    throw error.error === 'invalid_target'
      ? invalidTarget(error.message)
      : invalidScope(error.message)
  }
}

function makeUserCode(): string {
  return Array.from({ length: codeLength }, () => letters[randomInt(letters.length)]).join('')
}

/** Case, blanks and the dash are ignored. */
function normalizeUserCode(typed: string): string {
  return typed.toUpperCase().replace(/[^A-Z]/g, '')
}

export interface OpenDevice {
  device: DeviceCode
  client: Client
}

/** The pending device with this code; undefined when there is none. */
export async function openDevice(
  trx: Trx,
  typed: string,
  now: Date,
): Promise<OpenDevice | undefined> {
  const device = await lockDeviceByUserCode(trx, normalizeUserCode(typed), now)
  return device && { device, client: await getClient(trx, device.client_id) }
}

/** Stores the user's decision. */
export async function decideDevice(
  app: FastifyInstance,
  trx: Trx,
  { device, client }: OpenDevice,
  { user, signIn, ip, isApproved }: Omit<Answering, 'requiresFactor'> & { isApproved: boolean },
  now: Date,
): Promise<void> {
  if (!isApproved) {
    await denyDevice(trx, device.id, user.id)
    const traits = { client_id: client.id }
    return recordAudit(app.audit, trx, 'oauth_consent_denied', user, { ip, now, traits })
  }
  const { scope: scopes, resources } = device
  await storeConsent(app, trx, { client, scopes, resources, user, ip }, now)
  await approveDevice(trx, device.id, user.id, signIn)
}

interface DeviceRequest {
  deviceCode: string | undefined
  resources: readonly string[]
}

/** Throws authorization_pending, slow_down, expired_token, access_denied, invalid_grant or invalid_request. */
export async function exchangeDeviceCode(
  app: FastifyInstance,
  client: Client,
  { deviceCode, resources }: DeviceRequest,
  origin: Origin,
  now: Date,
): Promise<TokenResponse> {
  if (!deviceCode) throw oauthInvalidRequest('device_code is missing')
  const outcome = await app.db.transaction().execute(async (trx) => {
    const id = hashClientSecret(deviceCode)
    // The user is locked before the code, as in a revocation of sessions, to prevent deadlocks.
    const userId = await findDeviceUser(trx, id)
    const user = userId ? await lockAndLoadUser(trx, userId) : undefined
    const device = await lockDevice(trx, id)
    if (!device || device.client_id !== client.id) {
      return invalidGrant('The device code is unknown')
    }
    // Approved since: the next poll exchanges it.
    const isNew = device.user_id !== userId
    const waiting = await waitingFor(trx, isNew ? { ...device, status: 'pending' } : device, now)
    if (waiting) return waiting
    return openSession(app, trx, { device, client, user, resources }, origin, now)
  })
  if (outcome instanceof ApiError) throw outcome
  return issueTokens(app, outcome, now)
}

/** The error while there is nothing to exchange. Returned instead of thrown, because the time of the poll is stored. */
async function waitingFor(trx: Trx, device: DeviceCode, now: Date): Promise<ApiError | undefined> {
  const { id, status, interval_seconds: interval, last_polled_at: polledAt } = device
  if (device.expires_at <= now) {
    await deleteDevice(trx, id)
    return devicePending('expired_token')
  }
  if (status === 'denied') {
    await deleteDevice(trx, id)
    return oauthAccessDenied('The user denied the request')
  }
  if (status === 'approved') return undefined
  // A second of tolerance for network jitter. The interval stays: a client that polls at a fixed rate would otherwise be
  // told to slow down for ever after one early poll.
  const isEarly = polledAt && now.getTime() - polledAt.getTime() < (interval - 1) * 1000
  await recordPoll(trx, id, now)
  return devicePending(isEarly ? 'slow_down' : 'authorization_pending')
}

interface ApprovedDevice {
  device: DeviceCode
  client: Client
  user: UserRecord | undefined
  resources: readonly string[]
}

async function openSession(
  app: FastifyInstance,
  trx: Trx,
  { device, client, user, resources }: ApprovedDevice,
  origin: Origin,
  now: Date,
): Promise<OpenedGrant | ApiError> {
  const { session_id, auth_time, aal, amr } = device
  await deleteDevice(trx, device.id)
  if (!user || user.deleted_at || isBanned(user, now)) {
    return invalidGrant('The account of the user was banned or deleted')
  }
  const signIn = { session_id, auth_time: auth_time ?? now, aal: aal ?? 'aal1', amr: amr ?? [] }
  const approval = await findApprovingFactor(trx, signIn)
  if (!approval) return invalidGrant(approvalIsOver)
  const grant = {
    client,
    user,
    scope: device.scope,
    granted: device.resources,
    resources,
    signIn,
    factorId: approval.factor_id,
    nonce: null,
    idTokenNames: [],
    userinfoNames: [],
    method: 'oauth_provider/device_code' as const,
  }
  return openClientSession(app, trx, grant, origin, now)
}
