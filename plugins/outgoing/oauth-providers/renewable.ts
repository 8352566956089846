/** An object that is rebuilt when its inputs change, behind a stable reference. */
export function createRenewable<Made extends object>(make: () => Made) {
  let current = make()
  return {
    renewed: new Proxy(current, { get: (_first, name) => Reflect.get(current, name) }),
    renew(): void {
      current = make()
    },
  }
}
