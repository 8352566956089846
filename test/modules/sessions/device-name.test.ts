/** Maps a User-Agent to the device name shown to the user. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { getDeviceName } from '../../../modules/sessions/device-name.ts'

const gecko = 'Mozilla/5.0'
const webkit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
const blink = 'AppleWebKit/537.36 (KHTML, like Gecko)'

const devices: [userAgent: string | null, name: string][] = [
  [
    `${gecko} (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0`,
    'Firefox, Windows',
  ],
  [`${gecko} (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0`, 'Firefox, Linux'],
  [
    `${gecko} (Windows NT 10.0; Win64; x64) ${blink} Chrome/141.0.0.0 Safari/537.36`,
    'Chrome, Windows',
  ],
  [
    `${gecko} (Windows NT 10.0; Win64; x64) ${blink} Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0`,
    'Edge, Windows',
  ],
  [
    `${gecko} (Macintosh; Intel Mac OS X 10_15_7) ${blink} Chrome/141.0.0.0 Safari/537.36 OPR/126.0`,
    'Opera, macOS',
  ],
  [
    `${gecko} (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Version/18.3 Safari/605.1.15`,
    'Safari, macOS',
  ],
  [
    `${gecko} (iPhone; CPU iPhone OS 18_3 like Mac OS X) ${webkit} Version/18.3 Mobile/15E148 Safari/604.1`,
    'Safari, iPhone',
  ],
  [
    `${gecko} (iPad; CPU OS 18_3 like Mac OS X) ${webkit} CriOS/141.0 Mobile/15E148 Safari/604.1`,
    'Chrome, iPad',
  ],
  [
    `${gecko} (iPhone; CPU iPhone OS 18_3 like Mac OS X) ${webkit} FxiOS/140.0 Mobile/15E148 Safari/605.1.15`,
    'Firefox, iPhone',
  ],
  [
    `${gecko} (Linux; Android 10; K) ${blink} Chrome/141.0.0.0 Mobile Safari/537.36`,
    'Chrome, Android',
  ],
  [
    `${gecko} (Linux; Android 10; K) ${blink} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
    'Samsung Internet, Android',
  ],
  [
    `${gecko} (X11; CrOS x86_64 14541.0.0) ${blink} Chrome/141.0.0.0 Safari/537.36`,
    'Chrome, ChromeOS',
  ],
  ['okhttp/4.12.0', 'okhttp'],
  ['python-httpx/0.27.0', 'python-httpx'],
  ['Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8)', 'Dalvik, Android'],
  ['node', 'node'],
  [`${gecko} (Windows NT 10.0)`, 'Windows'],
  // A client cannot put its own text into the email.
  ['visit evil.example/1.0', ''],
  ['evil.example/1.0', ''],
  ['Call+15550100/1.0', ''],
  ['<b>evil</b>', ''],
  [`${'a'.repeat(25)}/1`, ''],
  ['Mozilla/5.0', ''],
  ['', ''],
  [null, ''],
]

suite('device name', () => {
  for (const [userAgent, name] of devices) {
    test(`${userAgent ?? 'no user agent'} is ${name || 'unknown'}`, () => {
      assert.equal(getDeviceName(userAgent), name)
    })
  }

  test('does not change with the browser version', () => {
    const firefox = (version: number) =>
      `${gecko} (Windows NT 10.0; Win64; x64; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`
    assert.equal(getDeviceName(firefox(152)), getDeviceName(firefox(140)))
  })
})
