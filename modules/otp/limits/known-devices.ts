/** Devices that a user has signed in from, as keyed hashes. */
import { createHmac, type KeyObject } from 'node:crypto'

import type { ClientInfo } from '../../../plugins/http/client-info/index.ts'

export interface DevicePolicy {
  /** The key that hashes devices. */
  deviceKey: KeyObject
}

/** Network and user agent: distinguishes the user's device from other clients, but authenticates nothing. */
export function deviceHash(
  { deviceKey }: DevicePolicy,
  { network, userAgent }: Pick<ClientInfo, 'network' | 'userAgent'>,
): string {
  return createHmac('sha256', deviceKey)
    .update(`${network}\n${userAgent ?? ''}`)
    .digest('base64url')
}
