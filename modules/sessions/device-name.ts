/**
 * Names of devices by user agent, stable across versions. Not taken from a library: when it renamed a device, every
 * user would get a notification.
 */

/** The first match counts: most browsers also claim to be others. */
const browsers: readonly [RegExp, string][] = [
  [/\b(?:Edg|EdgA|EdgiOS|Edge)\//, 'Edge'],
  [/\b(?:OPR|OPT|OPX|Opera)\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\b(?:Ddg|DuckDuckGo)\//, 'DuckDuckGo'],
  [/\b(?:YaBrowser|Yowser)\//, 'Yandex'],
  [/\bUCBrowser\//, 'UC Browser'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bVersion\/\S+ (?:Mobile\/\S+ )?Safari\//, 'Safari'],
]

const systems: readonly [RegExp, string][] = [
  [/\biPhone\b|\biPod\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
]

/** The name of an app before its version (RFC 9110 §10.1.5). Letters only, as it appears in emails. */
const app = /^(?!Mozilla\b)([A-Za-z-]{2,24})(?:\/|$)/

/** Browser and system, or app and system, as far as known; '' otherwise. */
export function getDeviceName(userAgent: string | null): string {
  const text = userAgent ?? ''
  const program = findFirst(browsers, text) ?? app.exec(text)?.[1]
  return [program, findFirst(systems, text)].filter((part) => part !== undefined).join(', ')
}

function findFirst(table: readonly [RegExp, string][], text: string): string | undefined {
  return table.find(([pattern]) => pattern.test(text))?.[1]
}
