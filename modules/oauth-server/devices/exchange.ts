/** The device polls until its user has decided (RFC 8628 §3.4, §3.5). */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import {
  type DeviceCode,
  deleteDevice,
  findDeviceUser,
  lockDevice,
  recordPoll,
} from '../../../db/oauth-server/devices.ts'
import { findApprovingFactor } from '../../../db/oauth-server/sessions.ts'
import { isBanned, type UserRecord } from '../../../db/users/users.ts'
import {
  ApiError,
  devicePending,
  invalidGrant,
  oauthAccessDenied,
  oauthInvalidRequest,
} from '../../../schemas/errors.ts'
import { lockAndLoadUser } from '../../users/index.ts'
import type { Client } from '../clients/client.ts'
import { hashClientSecret } from '../clients/secret.ts'
import {
  approvalIsOver,
  issueTokens,
  type OpenedGrant,
  openClientSession,
  type TokenResponse,
} from '../tokens/issue.ts'
import type { Origin } from '../tokens/origin.ts'

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
