/** The client address of a request: from the connection, or from X-Forwarded-For of trusted proxies. */
import { BlockList, isIP, isIPv4 } from 'node:net'

import ipaddr from 'ipaddr.js'

export function createForwarded(networks: readonly string[]) {
  const proxies = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = getFamily(address)
    proxies.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family)
  }

  function isProxy(address: string): boolean {
    return isIP(address) !== 0 && proxies.check(address, getFamily(address))
  }

  return {
    isProxy,

    /**
     * Each proxy appends the address it received the request from. Entries are trusted from the right for as long as
     * the proxy that wrote them is trusted; entries further left may be forged by the client.
     */
    findClient(peer: string, chain: string): string {
      let known = addressIn(peer) ?? peer
      if (chain === '') return known
      for (const entry of chain.split(',').reverse()) {
        const next = isProxy(known) ? addressIn(entry) : undefined
        if (next === undefined) return known
        known = next
      }
      return known
    },
  }
}

/** Normalized, without a port and without a zone index (`%eth0`), which is local to one machine (RFC 4007 §11). */
export function addressIn(entry: string): string | undefined {
  // The common case: already normalized.
  if (isIPv4(entry)) return entry
  const [, bracketed, dotted] = /^\s*(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)\s*$/.exec(entry) ?? []
  const [address = ''] = (bracketed ?? dotted ?? entry.trim()).split('%', 1)
  return isIP(address) === 0 ? undefined : ipaddr.process(address).toString()
}

function getFamily(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
