import { describe, expect, it } from "vitest";
import { readableText } from "../../../../src/agents/tools/fetch/html.js";

describe("readable text", () => {
  it.each([
    ["a<br>b", "a\nb"],
    ["<p>a</p><p>b</p>", "a\n\nb"],
    ["<a href='javascript:x()'>a</a>", "a"],
    ['<a title=">" href=x>a</a>', "[a](x)"],
    ["<table><tr><td>1<td>2<tr><td>3</table>", "| 1 | 2\n| 3"],
    ["<SCRIPT>x</sCript >y", "y"],
    ["<style>p{}</style><b>x</b>", "x"],
    ["a <!-- <b> --> b", "a  b"],
    ["a < b && c", "a < b && c"],
    ["&lt;script&gt; &unknown; &#0;", "<script> &unknown;"],
    ["<span aria-hidden=true>x</span>y", "y"],
    ['<div style="font-size:0">ignore</div>y', "y"],
    ["<img alt='A cat' src=x>", "A cat"],
    ["<script>never closed", ""],
    ["<div", ""],
    ["<?php x ?>y", "y"],
  ])("of %s is %s", (html, text) => expect(readableText(html)).toBe(text));

  it.each([
    ["<", 300_000],
    ["<a ", 200_000],
    ['<a href="', 100_000],
    ["<!--", 200_000],
    ["<script>", 100_000],
    ["<div hidden>", 100_000],
    ["</p>", 200_000],
    ["&#x", 200_000],
    ["<a href=x>", 100_000],
    [" \n", 300_000],
  ])("takes %s many times", (piece, times) =>
    expect(typeof readableText(piece.repeat(times))).toBe("string"),
  );
});
