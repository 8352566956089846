/** The devices that a person has signed in from, kept as hashes that only this server can make. */
import { createHmac, type KeyObject } from 'node:crypto'

import type { Client } from '../../client-ip.ts'

export interface DevicePolicy {
  /** Of the hash under which a device is noted. */
  deviceKey: KeyObject
}

/** The network it is in and the program it says it is: enough to tell its owner from strangers, no proof of anything. */
export function deviceHash(
  { deviceKey }: DevicePolicy,
  { network, userAgent }: Pick<Client, 'network' | 'userAgent'>,
): string {
  return createHmac('sha256', deviceKey)
    .update(`${network}\n${userAgent ?? ''}`)
    .digest('base64url')
}
