/** Device codes, and the user's decision (RFC 8628 §3.1 to §3.3). */
import { randomInt } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import {
  approveDevice,
  type DeviceCode,
  denyDevice,
  insertDeviceCode,
  lockDeviceByUserCode,
} from '../../../db/oauth-server/devices.ts'
import { invalidScope, invalidTarget, unauthorizedClient } from '../../../schemas/errors.ts'
import { deviceGrant } from '../../../schemas/oauth/client.ts'
import { recordAudit } from '../../audit/index.ts'
import type { Client } from '../clients/client.ts'
import { getClient } from '../clients/manage.ts'
import { hashClientSecret, makeSecret } from '../clients/secret.ts'
import { type Answering, storeConsent } from '../requests/answer.ts'
import { AuthorizationError } from '../requests/authorization-error.ts'
import { readResources } from '../requests/resources.ts'
import { readScope } from '../requests/scope.ts'

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
